import * as z from "zod";

/**
 * A single value: `parse` returns it, or undefined or an error where it is not acceptable; `expected` completes the
 * sentence that refuses it. `show` says what was found; a leaf that may hold a secret passes `describeKind`.
 */
export function leaf<T>(
  expected: string,
  parse: (text: string) => T | undefined,
  show: (value: unknown) => string = describe,
): z.ZodType<T> {
  return z.unknown().transform((value, context) => {
    let parsed: T | undefined;
    try {
      if (isScalar(value)) parsed = parse(String(value));
    } catch {
      // Refused below.
    }
    if (parsed !== undefined) return parsed;
    const message = `is ${show(value)}: expected ${expected}`;
    context.issues.push({ code: "custom", input: value, message });
    return z.NEVER;
  });
}

export function matching(
  expected: string,
  pattern: RegExp,
  show?: (value: unknown) => string,
): z.ZodType<string> {
  return leaf(expected, (text) => pattern.exec(text)?.[0], show);
}

/** Turns a parsed value into another; the message of what `convert` throws completes `"KEY" …`. */
export function converted<From, To>(
  schema: z.ZodType<From>,
  convert: (value: From) => To,
): z.ZodType<To> {
  return schema.transform((value, context) => {
    try {
      return convert(value);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      context.issues.push({ code: "custom", input: value, message });
      return z.NEVER;
    }
  });
}

export function choice<const T extends string>(
  ...values: readonly T[]
): z.ZodType<T> {
  return leaf(values.map((value) => `"${value}"`).join(" or "), (text) =>
    values.find((value) => value === text),
  );
}

/** An absent or empty key has the default, which is given as it is written. */
export function withDefault<T>(
  schema: z.ZodType<T>,
  written: unknown,
): z.ZodType<T> {
  return z.preprocess(orAbsent, schema.prefault(written));
}

export function optional<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return z.preprocess(orAbsent, schema.optional());
}

/** A mapping with known keys only; an absent or empty one has every default. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(orAbsent, z.strictObject(shape).prefault({} as never));
}

/** YAML has `null` for a key without a value. */
function orAbsent(value: unknown): unknown {
  return value ?? undefined;
}

/** The value itself, short. */
function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return isScalar(value) ? String(value) : describeKind(value);
}

/** Names the kind of a value without showing it. */
export function describeKind(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

export const flag = leaf("true or false", (text) =>
  text === "true" || text === "false" ? text === "true" : undefined,
);

export const text = matching("text", /^\S(?:.*\S)?$/);

/** An https URL that ends in a slash. */
export const httpsUrl = url(
  "an https URL such as https://registry.example.com/ without user, query or fragment",
  ["https:"],
);

export function url(
  expected: string,
  protocols: readonly string[],
): z.ZodType<URL> {
  const parse = (href: string) => {
    const url = new URL(href);
    const extras = url.username + url.password + url.search + url.hash;
    if (!protocols.includes(url.protocol) || extras !== "") return undefined;
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  };
  return leaf(expected, parse, (value) =>
    /[@?#]/.test(String(value)) ? describeKind(value) : describe(value),
  );
}
