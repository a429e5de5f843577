import type { RequestKind } from "../../telemetry/series/labels.ts";
import type { Subject } from "../protocols/public-address.ts";

const operations = new Set(["/healthz", "/readyz", "/metrics"]);

/** What a path is about, whether or not anything is there: one of a few words, whatever a client writes. */
export function requestKind(asked: string): RequestKind {
  const path = asked.replace(/^\/registry\/[^/]+(?=\/)/, "");
  if (path.startsWith("/providers/")) return kindOfMirrored(path);
  if (path.startsWith("/v1/providers/"))
    return path.endsWith("/versions") ? "index" : "version";
  if (path.startsWith("/v1/modules/")) return "module";
  if (path.startsWith("/.well-known/")) return "discovery";
  if (operations.has(path)) return "operation";
  return isPage(path) ? "page" : "other";
}

function kindOfMirrored(path: string): RequestKind {
  if (path.endsWith("/index.json")) return "index";
  if (path.endsWith(".json")) return "version";
  return path.endsWith(".zip") ? "archive" : "other";
}

/** The names in the path that was asked, as the table of URLs has them. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

/** The provider or module, and the document, that the path names, whatever protocol it is of. */
export function subjectOf(
  names: PathNames,
): Subject & { readonly platform?: string | undefined } {
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

/** Whether a path is one for people. */
function isPage(path: string): boolean {
  return /^\/(?:$|ca\.pem$|browse$|alarms$|why\/)/.test(path);
}
