import { dirname } from "node:path";
import { Document } from "yaml";
import type { Surroundings } from "./environment.ts";
import { loadConfiguration } from "./load.ts";
import { configurationSchema, describeKeys, type Known } from "./schema.ts";
import { addBuiltInOrigins } from "./origins.ts";
import { readSource } from "./source.ts";
import { parseYaml, type Path } from "./yaml-document.ts";

/**
 * The configuration of `file`, found as `loadConfiguration` finds it, as YAML that reads back to the same: each value
 * with the line that it comes from, secrets as the place where they are.
 */
export function formatConfiguration(
  file: string | undefined,
  from: Surroundings,
): string {
  const { proxy } = loadConfiguration({ file, ...from });
  const source = readSource(file, from);
  const written = parseYaml(source?.text ?? "");
  const wholeOf = (value: unknown) => {
    const sections = (value ?? {}) as Record<string, unknown>;
    return { ...sections, origins: addBuiltInOrigins(sections.origins) };
  };
  const shown = new Document();
  const merge = (known: Known, value: unknown, path: Path): unknown => {
    const found = value ?? known.default ?? null;
    const inside = listInside(known, found);
    if (inside.length === 0) {
      const leaf = shown.createNode(found, { flow: true });
      const isWritten = valueAt(written.value, path) != null;
      const line = isWritten ? written.lineOf(path) : undefined;
      leaf.comment = line === undefined ? " default" : ` line ${line}`;
      return leaf;
    }
    const merged = inside.map(
      ([key, child, one]) => [key, merge(child, one, [...path, key])] as const,
    );
    return Array.isArray(found)
      ? merged.map(([, one]) => one)
      : Object.fromEntries(merged);
  };
  const folder = source ? dirname(source.path) : from.cwd;
  const schema = describeKeys(configurationSchema(folder, from));
  shown.contents = shown.createNode(merge(schema, wholeOf(written.value), []));
  shown.commentBefore = [
    source?.path ?? "no file: built-in defaults",
    ...(proxy.https ? [`HTTPS_PROXY: ${proxy.https.origin}`] : []),
    ...(proxy.no === undefined ? [] : [`NO_PROXY: ${proxy.no}`]),
  ]
    .map((line) => ` ${line.replaceAll(/\s+/g, " ")}`)
    .join("\n");
  return shown.toString({ lineWidth: 0 });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) => (inner as Record<string, unknown> | null)?.[step],
    value,
  );
}

/** The keys of a mapping, or the items of a list, with the values that they have. */
function listInside(
  known: Known,
  value: unknown,
): readonly (readonly [string | number, Known, unknown])[] {
  if (typeof value !== "object" || value === null) return [];
  const variants = [known, ...(known.anyOf ?? [])];
  if (Array.isArray(value)) {
    const { items = {} } = variants.find((one) => one.items) ?? {};
    return value.map((one, index) => [index, items, one]);
  }
  const written = Object.entries(value);
  const properties = variants.find((one) => one.properties)?.properties;
  if (properties === undefined) {
    const every = variants.find((one) => one.additionalProperties);
    const child = every?.additionalProperties ?? {};
    return written.map(([key, one]) => [key, child, one]);
  }
  const values = new Map<string, unknown>(written);
  return Object.entries(properties).map(([key, child]) => [
    ...([key, child, values.get(key)] as const),
  ]);
}
