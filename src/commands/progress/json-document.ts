/** What `--json` prints: one document in the shape of docs/commands.schema.json. */
export function formatDocument(fields: object): string {
  return `${JSON.stringify({ version: 1, ...fields }, null, 2)}\n`;
}
