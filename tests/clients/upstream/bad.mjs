// Why a vendor refuses a request, and the checks that all vendors make. Each wire words the refusal in its own shape.

/** A refused request. `param` is the field as the vendor writes it. */
export class Bad extends Error {
  constructor(message, { param = null, code = null, status = 400 } = {}) {
    super(message);
    Object.assign(this, { param, code, status });
  }
}

/** Refuses fields of `object` outside of `known`; `future` begins the names of fields that are newer than anybody's list. */
export function onlyKnown(object, known, future, refuse) {
  for (const key of Object.keys(object)) {
    if (!known.includes(key) && !key.startsWith(future)) throw refuse(key);
  }
}

export function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
