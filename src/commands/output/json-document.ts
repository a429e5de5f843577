import type { ProvenderError } from "../../errors/index.ts";

/**
 * Formats the output of `--json`: one document in the shape of
 * docs/commands.schema.json.
 */
export function formatDocument(fields: object): string {
  return `${JSON.stringify({ version: 1, ...fields }, null, 2)}\n`;
}

/**
 * Formats the output of `--json` for a command that failed without a document
 * of its own.
 */
export function formatFailure({ code, message }: ProvenderError): string {
  return formatDocument({ error: { code, message } });
}
