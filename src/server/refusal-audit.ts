import type { ProvenderError } from "../errors/index.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import {
  findRegistryPath,
  type RegistryPath,
} from "./protocols/provider-registry.ts";
import { findModulePath } from "./protocols/module-registry.ts";
import { pathOf } from "./http/raw-request.ts";

/** Writes down a refusal; it is on the disk when this resolves, so that none is answered and forgotten. */
export async function auditRefusal(
  audit: AuditLog,
  url: string,
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
      ...readSubject(pathOf(url)),
    },
    { durable: true },
  );
}

interface Subject {
  readonly provider?: string;
  readonly module?: string;
  readonly version?: string | undefined;
  readonly platform?: string;
}

/** The provider or module, and the document, that the path names, whatever face it is of. */
function readSubject(path: string): Subject {
  const module = findModulePath(path);
  if (module !== undefined) {
    const { hostname, names, version } = module;
    return { module: [hostname, ...names].join("/"), version };
  }
  const registry = findRegistryPath(path);
  if (registry !== undefined) return readRegistrySubject(registry);
  const [, , hostname, namespace, type, document = ""] = path.split("/");
  if (type === undefined) return {};
  const provider = `${hostname}/${namespace}/${type}`;
  if (document === "index.json") return { provider };
  const [, version = ""] = /^(.*)\.json$/.exec(document) ?? [];
  if (version !== "") return { provider, version };
  const [, archived, platform] =
    /_([^_]+)_([^_]+_[^_]+)\.zip$/.exec(document) ?? [];
  return archived === undefined || platform === undefined
    ? { provider }
    : { provider, version: archived, platform };
}

function readRegistrySubject({
  hostname,
  namespace,
  type,
  rest,
}: RegistryPath): Subject {
  const provider = `${hostname}/${namespace}/${type}`;
  const [version = "", , os, arch] = rest;
  if (rest.length === 1) return { provider };
  return arch === undefined
    ? { provider, version }
    : { provider, version, platform: `${os}_${arch}` };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
