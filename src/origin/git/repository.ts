import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  isCommit,
  isShortCommit,
  type GitSource,
} from "../../address/module-source.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import {
  formatPublicUrl,
  type AddressAllowance,
  checkUrl,
  hostAndPort,
  guardedLookup,
  isFree,
} from "../guard/address-guard.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";
import type { HttpClient } from "../http/http-client.ts";
import {
  GitFailed,
  type GitSurroundings,
  notInstalled,
  runGit,
} from "./git-process.ts";

/** Milliseconds for a repository in all. */
const gitDeadline = 300_000;

/** A folder that goes with its content when it is disposed of. */
type WorkFolder = { readonly path: string } & AsyncDisposable;

/** Room on the disk for what is fetched. */
interface WorkRoom {
  /** Reserves so many bytes in all. */
  readonly hold: (bytes: number) => Promise<void>;
  readonly release: () => void;
}

interface GitParts {
  /** Without a token. */
  readonly settings: OriginSettings;
  readonly http: HttpClient;
  /** The least `rate` is over `idle`. */
  readonly limits: Pick<OriginLimits, "rate" | "idle"> & {
    /** Bytes of a repository. */
    readonly gitRepository: number;
    /** Bytes of memory of each process of git. */
    readonly gitMemory: number;
  };
  /** Search path for programs. */
  readonly searchPath: string;
  readonly createFolder: () => Promise<WorkFolder>;
  readonly openRoom: () => Promise<WorkRoom>;
}

/** A commit that is here; close it when done. */
export interface GitCheckout {
  /** Without its remote; aborts when `gitDeadline` passes, or it is no longer wanted. */
  readonly git: GitSurroundings;
  readonly commit: string;
  /** The room that the repository took, for what is made of it. */
  readonly room: WorkRoom;
  close(): Promise<void>;
}

interface Remote extends GitSurroundings {
  readonly url: URL;
}

/**
 * Limit of git's own files in a repository, which has one for each branch and
 * tag.
 */
const mostFiles = 20_000;

/**
 * Media type of a server's list of references (gitprotocol-http, "Smart Server
 * Response").
 */
const advertisement = "application/x-git-upload-pack-advertisement";

const quiet = [
  "fetch",
  "--quiet",
  "--no-tags",
  "--no-recurse-submodules",
  "--no-write-fetch-head",
];

/** Git repositories, asked by the machine's git under the same rules as every origin. */
export class GitRepositories {
  readonly #parts: GitParts;

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  /**
   * Returns the current commit of the source; undefined for an abbreviated one,
   * which only the whole repository resolves.
   */
  async findCommit(
    { url, ref }: GitSource,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const commit = ref?.toLowerCase() ?? "";
    if (isCommit(commit)) return commit;
    await using folder = await this.#parts.createFolder();
    return await translateGitFailure(url, signal, async () => {
      const remote = await this.#approach(url, folder.path, signal);
      const names = ref === undefined ? ["HEAD"] : namesOf(ref);
      const args = ["ls-remote", "--", remote.url.href, ...names];
      const lines = (await runGit(args, remote)).toString("utf8").split("\n");
      const refs = new Map(
        lines.flatMap((line) => {
          const [id = "", name = ""] = line.split("\t");
          return isCommit(id) ? [[name, id]] : [];
        }),
      );
      const found = names.flatMap((name) => refs.get(name) ?? [])[0];
      if (found === undefined && !isShortCommit(ref ?? ""))
        throw new GitFailed(`it has no branch, tag or commit "${ref}"`);
      return found;
    });
  }

  /** Fetches the commit, or what the source names where no commit is known. */
  async fetchCommit(
    { url, ref }: GitSource,
    commit: string | undefined,
    asker: AbortSignal,
  ): Promise<GitCheckout> {
    const deadline = AbortSignal.timeout(gitDeadline);
    const signal = AbortSignal.any([asker, deadline]);
    await using held = new AsyncDisposableStack();
    const folder = held.use(await this.#parts.createFolder());
    const room = await this.#parts.openRoom();
    held.defer(() => room.release());
    return await translateGitFailure(url, signal, async () => {
      const remote = await this.#approach(url, folder.path, signal);
      const { hold } = room;
      const found = await fetchCommit({ ...remote, hold }, commit, ref);
      const git = { ...remote, remote: undefined };
      const kept = held.move();
      const close = () => kept.disposeAsync();
      return { git, commit: found, room, close };
    });
  }

  async #approach(
    url: URL,
    folder: string,
    signal: AbortSignal,
  ): Promise<Remote> {
    const { settings, limits, searchPath } = this.#parts;
    const end = await this.#followRedirects(url, signal);
    checkUrl(end, settings);
    const { proxy } = settings;
    // A proxy resolves names itself, so there only the URL is checked.
    const viaProxy = isProxied(end, proxy);
    const pins = viaProxy ? [] : [await pinAddresses(end, settings)];
    const authorities = join(folder, "authorities.pem");
    await mkdir(join(folder, "home"));
    await writeFile(authorities, trustedCertificates(settings.ca).join("\n"));
    return {
      url: end,
      folder,
      path: searchPath,
      remote: {
        proxy: viaProxy ? proxy.https : undefined,
        settings: [
          ...pins,
          `http.sslCAInfo=${authorities}`,
          `http.lowSpeedLimit=${Math.max(1, limits.rate)}`,
          `http.lowSpeedTime=${Math.max(1, Math.ceil(limits.idle / 1000))}`,
        ],
      },
      bounds: {
        memory: limits.gitMemory,
        seconds: gitDeadline / 1000,
        bytes: limits.gitRepository,
        files: mostFiles,
      },
      signal,
    };
  }

  /** Repositories that were renamed redirect; git itself may not follow, since the target would not be checked. */
  async #followRedirects(url: URL, signal: AbortSignal): Promise<URL> {
    const asked = new URL(url);
    asked.pathname = `${url.pathname.replace(/\/$/, "")}/info/refs`;
    asked.search = "?service=git-upload-pack";
    const answer = await this.#parts.http.openArchive(asked, signal);
    for await (const chunk of answer.body) if (chunk.length > 0) break;
    const end = new URL(answer.url);
    if (!end.pathname.endsWith("/info/refs"))
      throw new GitFailed("it redirects to what is no repository");
    if (end.username !== "" || end.password !== "")
      throw new GitFailed("it redirects to a place with a login");
    if (answer.contentType !== advertisement)
      throw new GitFailed("its server does not speak git's smart protocol");
    end.pathname = end.pathname.slice(0, -"/info/refs".length);
    end.search = "";
    return end;
  }
}

/** Lists what `git checkout` takes a name for in a clone (gitrevisions(7)), in the order in which clients look. */
function namesOf(ref: string): readonly string[] {
  const [, branch] =
    /^(?:refs\/remotes\/|remotes\/)?origin\/(.+)$/.exec(ref) ?? [];
  const places = [
    ...[`refs/tags/${ref}`, `refs/heads/${ref}`, `refs/${ref}`, ref],
    ...(branch === undefined ? [] : [`refs/heads/${branch}`]),
    ...(branch === "HEAD" ? [branch] : []),
  ];
  return places.flatMap((name) => [`${name}^{}`, name]);
}

/** The one commit when the server gives it, else everything: old servers know no other way. */
async function fetchCommit(
  remote: Remote,
  commit: string | undefined,
  ref: string | undefined,
): Promise<string> {
  const url = remote.url.href;
  await runGit(["init", "--quiet", "--bare", "--template="], remote);
  const fetchAll = () => {
    const heads = "+refs/heads/*:refs/remotes/origin/*";
    const tags = "+refs/tags/*:refs/tags/*";
    return runGit([...quiet, "--", url, heads, tags], remote);
  };
  if (commit === undefined) await fetchAll();
  else {
    const one = ["--depth=1", "--", url, `${commit}:refs/module`];
    await runGit([...quiet, ...one], remote).catch((error: unknown) => {
      if (remote.signal.aborted || !(error instanceof GitFailed)) throw error;
      return fetchAll();
    });
  }
  const name = `${commit ?? ref ?? "HEAD"}^{commit}`;
  const printed = await runGit(["rev-parse", "--verify", name], remote);
  return printed.toString("latin1").trim();
}

/** Git's failures in our own words; ours pass unchanged. */
async function translateGitFailure<T>(
  url: URL,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const shown = formatPublicUrl(url);
    const options = { cause: error };
    // It was ended by the mirror, and not for its length.
    if (signal.reason instanceof ProvenderError) throw signal.reason;
    if (signal.aborted)
      throw failure("origin-timeout", shown, "the deadline passed", options);
    if (error instanceof RangeError || error instanceof TypeError)
      throw failure("origin-answer", shown, error.message, options);
    if (!(error instanceof GitFailed)) throw error;
    const isMissing = error.message === notInstalled;
    const code = isMissing ? "origin-unreachable" : "origin-answer";
    throw failure(code, shown, error.message, options);
  }
}

/** The setting that limits git to the addresses of the host which passed the guard. */
async function pinAddresses(
  url: URL,
  allowance: AddressAllowance,
): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const resolve = isFree(url, allowance) ? lookup : promisify(guardedLookup);
  // Of an address it gives that address.
  const found = await resolve(host, { all: true }).catch((cause: unknown) => {
    if (cause instanceof ProvenderError) throw cause;
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw failure("origin-unreachable", formatPublicUrl(url), code, { cause });
  });
  const list = (found as readonly LookupAddress[]).map(({ address }) =>
    address.includes(":") ? `[${address}]` : address,
  );
  return `http.curloptResolve=${hostAndPort(url)}:${list.join(",")}`;
}

/** NO_PROXY as clients read it: names with what is below them, `host:port`, or `*`. */
function isProxied(url: URL, { https, no }: OriginSettings["proxy"]): boolean {
  if (https === undefined) return false;
  const entries = (no ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return !entries.some((entry) => {
    const [name = "", port] = entry.toLowerCase().split(":");
    const bare = name.replace(/^\*?\./, "");
    const samePort = port === undefined || port === (url.port || "443");
    const isBelow = url.hostname.endsWith(`.${bare}`);
    return entry === "*" || (samePort && (url.hostname === bare || isBelow));
  });
}
