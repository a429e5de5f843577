import type { RequestKind } from "../../telemetry/definitions.ts";
import type { Subject } from "../protocols/public-address.ts";

const operations = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Classifies a path by one of a few words, for any path that a client sends and
 * whether or not anything is there.
 */
export function requestKind(asked: string): RequestKind {
  const path = asked.replace(/^\/registry\/[^/]+(?=\/)/, "");
  if (path.startsWith("/providers/")) {
    if (path.endsWith("/index.json")) return "index";
    if (path.endsWith(".json")) return "version";
    return path.endsWith(".zip") ? "archive" : "other";
  }
  if (path.startsWith("/v1/providers/"))
    return path.endsWith("/versions") ? "index" : "version";
  if (path.startsWith("/v1/modules/")) return "module";
  if (path.startsWith("/.well-known/")) return "discovery";
  if (operations.has(path)) return "operation";
  return isPage(path) ? "page" : "other";
}

/** The names in the path that was asked, as the table of URLs has them. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

/**
 * Returns the provider or module, and the document, that a path of any protocol
 * names.
 */
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

/** True for a page for people. */
function isPage(path: string): boolean {
  return /^\/(?:$|ca\.pem$|browse$|decisions$|why\/)/.test(path);
}
