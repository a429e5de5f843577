import { isFailure, ProvenderError } from "../../errors/index.ts";

export function stdout(text: string): void {
  process.stdout.write(text);
}

export function stderr(text: string): void {
  process.stderr.write(text);
}

/** Resolves when standard output took the text, with false when it has no reader any longer. */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve) =>
    process.stdout.write(text, (error) => resolve(error == null)),
  );
}

/** Formats the output of `--json`: one document in the shape of docs/commands.schema.json. */
export function formatDocument(fields: object): string {
  return `${JSON.stringify({ version: 1, ...fields }, null, 2)}\n`;
}

/** Describes an error as `failure` of the schema; system errors have no remedy. */
export function describeError(error: Error): object {
  const { message } = error;
  const { code, remedy = null } =
    error instanceof ProvenderError ? error : { code: "system" };
  return { code, message, remedy };
}

/** Reports the error that ended a command, and the one of closing the store. Returns the exit status (docs/contract.md). */
export function reportFailure(thrown: unknown, json: boolean): number {
  const isBoth = thrown instanceof SuppressedError;
  const error: unknown = isBoth ? thrown.suppressed : thrown;
  stderr(formatError(error));
  if (isBoth) stderr(formatError(thrown.error));
  if (json && error instanceof ProvenderError)
    stdout(formatDocument({ error: describeError(error) }));
  const isMisuse = isFailure(
    error,
    "arguments",
    "configuration",
    "malformed-address",
    "nothing-asked",
    "store-owned-by-another",
    "database-too-new",
    "store-too-old",
  );
  return isMisuse ? 2 : 1;
}

/** One sentence for what is foreseen; the stack only for what is not. */
function formatError(error: unknown): string {
  const text =
    error instanceof ProvenderError
      ? error.message
      : ((error as Error).stack ?? String(error));
  return `provender: ${text}\n`;
}
