import {
  type ErrorCode,
  isAbsence,
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";

/** Current answer to clients, with its reasons. */
export interface Why {
  /** `HOSTNAME/NAMESPACE/TYPE`, or a module with all its parts, and a version behind a space. */
  readonly subject: string;
  readonly verdict: "served" | "refused" | "absent" | "failing";
  /** Code of the error that clients get; undefined when they are served. */
  readonly code: ErrorCode | undefined;
  /** Sentences for people, the cause first; nothing in them is a secret. */
  readonly reasons: readonly string[];
}

export const titles = {
  served: "Clients get it",
  refused: "This mirror refuses it",
  absent: "There is no such thing",
  failing: "This mirror cannot tell now",
} as const satisfies Record<Why["verdict"], string>;

/** The document that commands and the page give in JSON. */
export function renderWhy({ subject, verdict, code, reasons }: Why): object {
  return { version: 1, subject, verdict, code: code ?? null, reasons };
}

/** Throws what is no answer to clients. */
export function explainError(subject: string, error: unknown): Why {
  if (!(error instanceof ProvenderError)) throw error;
  const isUnknown =
    isOriginFailure(error) ||
    isFailure(error, "too-busy") ||
    isOperators(error.code);
  const verdict = isAbsence(error)
    ? "absent"
    : isUnknown
      ? "failing"
      : "refused";
  const reasons = [isOperators(error.code) ? untold(error) : error.message];
  return { subject, verdict, code: error.code, reasons };
}

/** Paths of the machine are for its operator alone. */
function untold(error: ProvenderError): string {
  const what = isFailure(error, "record-unreadable")
    ? "What this mirror saw first of it cannot be read"
    : "The store of this mirror cannot be used now";
  return `${what}: the operator finds the reason in the log.`;
}

function isOperators(code: ErrorCode): boolean {
  return /^(?:store-|record-|stored-|bucket-)/.test(code);
}
