// A value that fits a JSON Schema, the same one each time: what a model would write when it is told to.
//
// Only what the vendors' structured outputs allow is understood: types, enums, const, $ref, anyOf.

/** The value of `schema`; `root` holds the definitions that `$ref` names. */
export function instance(schema, root = schema, name = "") {
  if (schema.$ref) return instance(resolve(root, schema.$ref), root, name);
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice) return instance(choice.find((one) => one.type !== "null") ?? choice[0], root, name);
  if (schema.allOf) return instance(schema.allOf[0], root, name);
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  switch (type ?? (schema.properties ? "object" : "string")) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, value]) => [key, instance(value, root, key)]),
      );
    case "array":
      return [instance(schema.items ?? { type: "string" }, root, name)];
    case "integer":
      return Math.max(36, schema.minimum ?? 36);
    case "number":
      return 0.5;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return `the ${name || "answer"}`;
  }
}

/** What keeps `schema` from being used in strict mode, or nothing. */
export function notStrict(schema, path = []) {
  if (schema === null || typeof schema !== "object") return undefined;
  if (schema.type === "object") {
    if (schema.additionalProperties !== false) {
      return `In context=(${shown(path)}), 'additionalProperties' is required to be supplied and to be false.`;
    }
    const missing = Object.keys(schema.properties ?? {}).find((key) => !schema.required?.includes(key));
    if (missing) {
      return `In context=(${shown(path)}), 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  for (const key of ["properties", "$defs", "definitions"]) {
    for (const [name, value] of Object.entries(schema[key] ?? {})) {
      const trouble = notStrict(value, [...path, key, name]);
      if (trouble) return trouble;
    }
  }
  for (const value of [schema.items, ...(schema.anyOf ?? [])]) {
    const trouble = value && notStrict(value, [...path, "items"]);
    if (trouble) return trouble;
  }
  return undefined;
}

function resolve(root, reference) {
  let found = root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    found = found?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  if (!found) throw new Error(`the schema has no ${reference}`);
  return found;
}

function shown(path) {
  return path.map((step) => `'${step}'`).join(", ");
}
