import { z } from "zod";

/**
 * A single value: `parse` returns it or throws, `expected` completes the sentence that refuses it.
 * `show` says what was found; a leaf that may hold a secret passes `describeKind`.
 */
export function leaf<T>(
  expected: string,
  parse: (text: string) => T,
  show: (value: unknown) => string = describe,
): z.ZodType<T> {
  return z.unknown().transform((value, context) => {
    try {
      return parse(scalarText(value));
    } catch {
      const message = `is ${show(value)}: expected ${expected}`;
      context.issues.push({ code: "custom", input: value, message });
      return z.NEVER;
    }
  });
}

/** A leaf of the texts that a pattern takes. */
export function matching(
  expected: string,
  pattern: RegExp,
  show?: (value: unknown) => string,
): z.ZodType<string> {
  return leaf(expected, (text) => required(pattern.exec(text)?.[0]), show);
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
    required(values.find((value) => value === text)),
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

/** For `parse`: what is undefined is not acceptable. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError("Not acceptable.");
  return value;
}

/** The value itself, short. */
function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (typeof value === "number" || typeof value === "boolean")
    return String(value);
  return describeKind(value);
}

/** Names the kind of a value without showing it. */
export function describeKind(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

function scalarText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean")
    return String(value);
  throw new RangeError("Not a scalar.");
}

export const flag = leaf(
  "true or false",
  (text) => required(/^(?:true|false)$/.exec(text)?.[0]) === "true",
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
    required(
      protocols.includes(url.protocol) && extras === "" ? url : undefined,
    );
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  };
  return leaf(expected, parse, (value) =>
    /[@?#]/.test(String(value)) ? describeKind(value) : describe(value),
  );
}
