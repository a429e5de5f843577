import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

type Schema = Readonly<Record<string, unknown>>;

const file = join(
  import.meta.dirname,
  ...["..", "..", "docs", "commands.schema.json"],
);
export const commandsSchema = JSON.parse(readFileSync(file, "utf8")) as {
  readonly $defs: Readonly<Record<string, Schema>>;
};

const ajv = new Ajv2020({
  allowUnionTypes: true,
  formats: { "date-time": isMoment },
});
ajv.addSchema(closed(commandsSchema) as Schema, "commands");

/** Holds what a command printed against its schema, in which every field must be; `command` is its name in `$defs`. */
export function expectDocument(command: string, text: string): unknown {
  const document: unknown = JSON.parse(text);
  expect(text).toMatch(/^\{\s*"version":\s*1\b/);
  const check = ajv.getSchema(`commands#/$defs/${encodeURIComponent(command)}`);
  expect(check, `${command} has no schema`).toBeDefined();
  void check?.(document);
  expect(check?.errors ?? []).toEqual([]);
  return document;
}

/** Readers take fields that they do not know; this project writes none without saying so. */
function closed(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  return inner.type === "object"
    ? { additionalProperties: false, ...inner }
    : inner;
}

function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT.*Z$/.test(text) && !Number.isNaN(Date.parse(text));
}
