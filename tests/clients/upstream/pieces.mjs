// Small things that the wires share: ids, words as a model's tokens, fragments of JSON text.

let counter = 0;

/** A fresh id as vendors make them: a prefix, then letters and digits that nobody has seen before. */
export function id(prefix, length = 24) {
  counter += 1;
  const tail = counter.toString(36);
  const random = Array.from({ length: length - tail.length }, () => Math.floor(Math.random() * 36).toString(36));
  return prefix + random.join("") + tail;
}

/** A text as the pieces in which a model writes it: words with the blank before them. */
export function words(text) {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text ? [text] : []);
}

/** JSON text in fragments that respect nothing: names, numbers and escapes are cut. */
export function fragments(json) {
  return json.match(/[\s\S]{1,7}/g) ?? [];
}

/** The first half of a list, and not less than one. */
export function half(list) {
  return list.slice(0, Math.max(1, Math.floor(list.length / 2)));
}

export const now = () => Math.floor(Date.now() / 1000);

/** How an image in a request is described: its kind and size, or where it is. */
export function describeImage({ mediaType, data, url }) {
  return url ? `an image at ${url}` : `a ${mediaType} of ${Buffer.from(data, "base64").length} bytes`;
}

/** A `data:` address as its parts, any other as it is. */
export function imageFrom(url) {
  const match = /^data:([\w/+.-]+);base64,(.+)$/.exec(url);
  return match ? { mediaType: match[1], data: match[2] } : { url };
}
