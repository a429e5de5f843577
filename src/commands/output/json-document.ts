import { ProvenderError } from "../../errors/index.ts";

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
export function formatFailure(error: ProvenderError): string {
  return formatDocument({ error: describeError(error) });
}

/** Describes an error as `failure` of the schema; system errors have no remedy. */
export function describeError(error: Error): object {
  const { message } = error;
  if (!(error instanceof ProvenderError))
    return { code: "system", message, remedy: null };
  const { code, remedy = null } = error;
  return { code, message, remedy };
}
