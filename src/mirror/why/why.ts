import {
  formatModuleAddress,
  moduleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { readEitherSpec, type SpecHosts } from "../../address/specs/spec.ts";
import {
  isVersion,
  parseVersion,
  type Version,
} from "../../address/version.ts";
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
  /** The answer in a few words. */
  readonly headline: string;
  /** Code of the error that clients get; undefined when they are served. */
  readonly code: ErrorCode | undefined;
  /** Sentences for people, the cause first; nothing in them is a secret. */
  readonly reasons: readonly string[];
}

const titles = {
  served: "Clients get it",
  refused: "This mirror refuses it",
  absent: "There is no such thing",
  failing: "This mirror cannot tell now",
} as const satisfies Record<Why["verdict"], string>;

/** The document that commands and the page give in JSON. */
export function renderWhy({ code, ...why }: Why): object {
  return { version: 1, ...why, code: code ?? null };
}

export function serve(
  subject: string,
  reasons: readonly string[],
  headline: string = titles.served,
): Why {
  return { subject, verdict: "served", headline, code: undefined, reasons };
}

export function refuse(
  subject: string,
  verdict: Exclude<Why["verdict"], "served">,
  code: ErrorCode,
  reasons: readonly string[],
): Why {
  return { subject, verdict, headline: titles[verdict], code, reasons };
}

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
  return refuse(subject, verdict, error.code, reasons);
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

/** The subject of a question: a provider or module, or one version of it. */
export type WhyQuestion = (
  { readonly provider: ProviderAddress } | { readonly module: ModuleAddress }
) & { readonly version: Version | undefined };

/**
 * `HOSTNAME/NAMESPACE/TYPE[/VERSION]`, or `HOSTNAME/NAMESPACE/NAME/SYSTEM[/VERSION]`: no target system has the dots
 * of a version.
 */
export function parseWhyPath(path: string): WhyQuestion {
  const parts = path.split("/");
  const last = parts.at(-1) ?? "";
  const isVersioned = parts.length > 4 || (parts.length > 3 && isVersion(last));
  return isVersioned
    ? readQuestion(parts.slice(0, -1), last)
    : readQuestion(parts, undefined);
}

/** Reads the SPEC of a provider or module, with one version or none. */
export function parseWhySpec(spec: string, hosts: SpecHosts): WhyQuestion {
  const { chosen, ...subject } = readEitherSpec(spec, hosts);
  const version = chosen === undefined ? undefined : parseVersion(chosen);
  return { ...subject, version };
}

function readQuestion(
  name: readonly string[],
  written: string | undefined,
): WhyQuestion {
  const version = written === undefined ? undefined : parseVersion(written);
  const [hostname = "", namespace = "", module = "", system = ""] = name;
  return name.length === 4
    ? { module: moduleAddress(hostname, namespace, module, system), version }
    : { provider: parseProviderAddress(name.join("/")), version };
}

/**
 * Formats a question as `parseWhyPath` parses it; a space before the version is
 * for people.
 */
export function formatQuestion(question: WhyQuestion, before = "/"): string {
  const name =
    "provider" in question
      ? formatProviderAddress(question.provider)
      : formatModuleAddress(question.module);
  const { version } = question;
  return version === undefined ? name : `${name}${before}${version}`;
}
