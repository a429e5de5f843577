import { isFailure, ProvenderError } from "../../errors/index.ts";

/** Exit statuses of docs/contract.md: 0 done, 1 some of the work could not be done, 2 usage or configuration. */
const failed = 1;
const misused = 2;

/**
 * Reports the error that ended a command, and the one of closing the store.
 * Returns the exit status.
 */
export function reportFailure(
  thrown: unknown,
  json: boolean,
  { stdout, stderr }: Output,
): number {
  const isBoth = thrown instanceof SuppressedError;
  const error: unknown = isBoth ? thrown.suppressed : thrown;
  stderr(formatError(error));
  if (isBoth) stderr(formatError(thrown.error));
  if (json && error instanceof ProvenderError) stdout(formatFailure(error));
  return isMisuse(error) ? misused : failed;
}

/** One sentence for what is foreseen; the stack only for what is not. */
function formatError(error: unknown): string {
  const text =
    error instanceof ProvenderError
      ? error.message
      : ((error as Error).stack ?? String(error));
  return `provender: ${text}\n`;
}

function isMisuse(error: unknown): boolean {
  return isFailure(
    error,
    "arguments",
    "configuration",
    "malformed-address",
    "nothing-asked",
    "store-owned-by-another",
    "store-too-new",
    "store-version-unreadable",
  );
}

/** Output streams of a command. */
export interface Output {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

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
function formatFailure(error: ProvenderError): string {
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
