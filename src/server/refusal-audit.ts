import type { ProvenderError } from "../errors/index.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";

/** The names in the path that was asked, as the table of URLs has them. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

/** Writes down a refusal; it is on the disk when this resolves, so that none is answered and forgotten. */
export async function auditRefusal(
  audit: AuditLog,
  names: PathNames,
  error: ProvenderError,
): Promise<void> {
  const facts = error as unknown as Readonly<Record<string, unknown>>;
  await audit.record(
    {
      event: "refused",
      verdict: "refused",
      reason: error.code,
      detail: error.message,
      rule: textOf(facts.rule),
      fingerprint: textOf(facts.fingerprint),
      sha256: textOf(facts.got),
      ...subjectOf(names),
    },
    { durable: true },
  );
}

interface Subject {
  readonly provider?: string;
  readonly module?: string;
  readonly version?: string | undefined;
  readonly platform?: string | undefined;
}

/** The provider or module, and the document, that the path names, whatever protocol it is of. */
function subjectOf(names: PathNames): Subject {
  const { hostname, namespace, name, system, type, version } = names;
  if (system !== undefined)
    return { module: `${hostname}/${namespace}/${name}/${system}`, version };
  if (type === undefined) return {};
  const provider = `${hostname}/${namespace}/${type}`;
  const { os, arch, archive = "" } = names;
  if (arch !== undefined)
    return { provider, version, platform: `${os}_${arch}` };
  const [, archived, platform] = /_([^_]+)_([^_]+_[^_]+)$/.exec(archive) ?? [];
  return archived === undefined
    ? { provider, version }
    : { provider, version: archived, platform };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
