import type { ProvenderError } from "../../errors/index.ts";

/** What `--json` prints: one document in the shape of docs/commands.schema.json. */
export function formatDocument(fields: object): string {
  return `${JSON.stringify({ version: 1, ...fields }, null, 2)}\n`;
}

/** What `--json` prints where the command came to nothing that it has a document for. */
export function formatFailure({ code, message }: ProvenderError): string {
  return formatDocument({ error: { code, message } });
}
