import { failure } from "../errors/index.ts";
import { isSha256, type Sha256 } from "./hash.ts";
import {
  type ArchiveFormat,
  findArchiveFormat,
  findFormatOfPath,
} from "./module-archive-name.ts";

export type ModuleSource = ArchiveSource | GitSource | ForeignSource;

/** An archive over HTTP. */
interface ArchiveSource {
  readonly kind: "archive";
  /** The module's folder in the package, without slashes at its ends; empty for the whole. */
  readonly subdirectory: string;
  readonly url: URL;
  readonly format: ArchiveFormat;
  readonly checksum: Sha256 | undefined;
}

export interface GitSource {
  readonly kind: "git";
  readonly subdirectory: string;
  /** `https:`. */
  readonly url: URL;
  /** A branch, tag or commit; undefined for the default branch. */
  readonly ref: string | undefined;
}

/** Source that clients have to fetch themselves. */
interface ForeignSource {
  readonly kind: "foreign";
  /** Getter that the mirror does not support, for the log. */
  readonly getter: string;
}

/** Reach the client's own machine or run programs there. */
const harmful = new Set(["file", "ext", "fd"]);

const printable = /^\P{C}{1,4096}$/u;

/**
 * Reads a location of `module`, resolved against `base` when it is relative (Module Registry Protocol, "Download
 * Source Code for a Specific Module Version"; go-getter, "URL Format").
 */
export function parseModuleSource(
  module: string,
  location: string,
  base: string,
): ModuleSource {
  const refuse = (reason: string) =>
    failure("module-source-refused", module, reason);
  if (!printable.test(location))
    throw refuse("expected at most 4096 printable characters");
  const absolute = resolveLocation(module, location, base);
  const [, forced = "", rest = ""] =
    /^(?:([A-Za-z0-9+.-]+)::)?(.*)$/.exec(absolute) ?? [];
  const written = expandShorthand(rest);
  // The first `//` after the scheme and before the query ends the package's own address.
  const [, address = "", subdirectory = "", query = ""] =
    /^((?:[^?]*?:\/\/)?[^?]*?)(?:\/\/([^?]*))?(\?.*)?$/s.exec(
      written ?? rest,
    ) ?? [];
  const text = address + query;
  const implied = written === undefined ? schemeOf(text) : "git";
  if (implied === undefined)
    throw refuse("it is neither a URL nor a known short form");
  const getter = (forced || implied).toLowerCase();
  const harm = findHarm([getter, implied], text, subdirectory);
  if (harm !== undefined) throw refuse(harm);
  if (implied === shortForm) return foreign(shortForm);
  const folder = parseSubdirectory(subdirectory);
  if (folder === undefined) return foreign("an unusual folder in the package");
  if (!["git", "http", "https"].includes(getter)) return foreign(getter);
  const url = URL.parse(text);
  if (url === null) throw refuse("it is not a URL");
  return getter === "git" ? parseGit(url, folder) : parseArchive(url, folder);
}

/** A location that does not depend on where it was read. */
export function resolveLocation(
  module: string,
  location: string,
  base: string,
): string {
  if (!/^\.{0,2}\//.test(location)) return location;
  const url = URL.parse(location, base);
  if (url === null)
    throw failure("module-source-refused", module, "it is not a URL");
  return url.href;
}

function foreign(getter: string): ForeignSource {
  return { kind: "foreign", getter };
}

/** What could do harm at a client is refused; what is merely unknown is the client's own to fetch. */
function findHarm(
  schemes: readonly string[],
  text: string,
  subdirectory: string,
): string | undefined {
  const scheme = schemes.find((one) => harmful.has(one));
  if (scheme !== undefined)
    return `expected git or an archive over HTTP, got "${scheme}"`;
  if (/%(?:[01][0-9a-f]|7f)/i.test(text)) return "it holds control characters";
  // A command would read an option, and a shell a command.
  const [, authority = "", path = ""] =
    /^[^:]*:\/\/([^/?]*)\/?([^?]*)/.exec(text) ?? [];
  if (/(?:^|@)-/.test(authority) || /^-|`|\$\(/.test(path))
    return "it holds an option or a command";
  const [, query = ""] = /\?([^#]*)/.exec(text) ?? [];
  for (const ref of new URLSearchParams(query).getAll("ref"))
    if (/^-|\.\.|[`;|\s]|\$[({]/.test(ref))
      return `expected a ref that git would make, got ${JSON.stringify(ref.slice(0, 80))}`;
  if (subdirectory.split(/[/\\]/).includes("..") || /%2e/i.test(subdirectory))
    return `expected a folder in the package, got ${JSON.stringify(subdirectory.slice(0, 80))}`;
  return undefined;
}

/** A location without what can be a secret, for logs and comparisons. */
export function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/, "").replace(/\/\/[^/@]*@/, "//");
}

/** The git URL that `github.com/…`, `bitbucket.org/…` and `USER@HOST:PATH` stand for; undefined for other texts. */
function expandShorthand(text: string): string | undefined {
  const [, host, repository, rest = ""] =
    /^(github\.com|bitbucket\.org)\/([^/?]+\/[^/?]+)(.*)$/.exec(text) ?? [];
  if (host !== undefined && repository !== undefined) {
    const name = repository.replace(/\.git$/, "");
    const below = rest.replace(/^\/+(?=[^?])/, "//");
    return `https://${host}/${name}.git${below}`;
  }
  const [, user, server, path] =
    /^([\w.-]+)@([^:/]+):\/?([^/].*)$/.exec(text) ?? [];
  return path === undefined ? undefined : `ssh://${user}@${server}/${path}`;
}

/** What begins with the name of a host, such as `s3-eu-west-1.amazonaws.com/bucket/net.zip`: clients know more of these than the mirror. */
const shortForm = "a short form";

function schemeOf(text: string): string | undefined {
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text) ?? [];
  if (scheme !== undefined) return scheme.toLowerCase();
  const isShort = /^[a-z\d-]+(?:\.[a-z\d-]+)+(?::\d+)?\//i.test(text);
  return isShort ? shortForm : undefined;
}

/** Letters that clients and URLs read alike; a `*` stands for the one folder of its name. Undefined for others, and for what leads out. */
export function parseSubdirectory(text: string): string | undefined {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  const isPlain =
    parts.every((part) => /^[\w.*+@=,~&()!'-]+$/.test(part)) &&
    !parts.includes("..");
  return isPlain ? parts.join("/") : undefined;
}

function parseGit(url: URL, subdirectory: string): ModuleSource {
  // The keys of ssh are the clients' own; git without TLS is nobody's to believe.
  if (url.protocol !== "https:")
    return foreign(`git over ${url.protocol.slice(0, -1)}`);
  // A login would be an argument of git, which all of the machine can read.
  if (url.username !== "" || url.password !== "")
    return foreign("git with a login");
  const { searchParams } = url;
  const ref = searchParams.get("ref") ?? "";
  if (ref !== "" && !isGitRef(ref)) return foreign("git at a revision");
  // The depth of a client's fetch does not change the content.
  for (const known of ["ref", "depth"]) searchParams.delete(known);
  if (searchParams.size > 0) return foreign("git with other parameters");
  url.search = "";
  return { kind: "git", url, ref: ref === "" ? undefined : ref, subdirectory };
}

function parseArchive(url: URL, subdirectory: string): ModuleSource {
  if (url.protocol !== "https:") return foreign("http without TLS");
  const { searchParams } = url;
  const named = searchParams.get("archive");
  const format =
    named === null ? findFormatOfPath(url.pathname) : findArchiveFormat(named);
  if (format === undefined) return foreign("http without a known archive");
  // `sha256:HEX`, or HEX alone (go-getter, "Checksumming"); what another algorithm says is left to clients.
  const written = searchParams.get("checksum")?.toLowerCase();
  const checksum = written?.replace(/^sha256:/, "");
  if (checksum !== undefined && !isSha256(checksum))
    return foreign("http with an unknown checksum");
  for (const known of ["archive", "checksum"])
    if (searchParams.has(known)) searchParams.delete(known);
  return { kind: "archive", url, format, checksum, subdirectory };
}

/**
 * A name that git would make (git-check-ref-format), and nothing that a command
 * line or the syntax of revisions could read as something else.
 */
function isGitRef(text: string): boolean {
  return (
    /^[\x21-\x7e]{1,200}$/.test(text) &&
    !/[~^:?*[\\]|\.\.|@\{|^@$|\/\/|^[-./]|\/[-.]|\.lock(?:\/|$)|[./]$/.test(
      text,
    )
  );
}

/** A commit's full name. */
export function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The first digits of a commit's name, or what `git describe` says of one. */
export function isShortCommit(text: string): boolean {
  return /^(?:.+-g)?[0-9a-f]{4,40}$/i.test(text);
}
