import { posix } from "node:path";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import {
  type ModuleFiles,
  readModuleFiles,
} from "../../mirror/modules/files.ts";
import {
  formatModuleRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import {
  ArchiveRefused,
  moduleLimits,
} from "../../verification/archives/limits.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import {
  type Folder,
  type FoundModule,
  isConfigurationFile,
  type NotCarried,
  type OpenModule,
} from "../inputs/configuration.ts";
import { readInputBytes } from "../inputs/input-file.ts";
import {
  chooseVersions,
  newestOf,
  type VersionChoice,
} from "./version-choice.ts";

/** A module that is in the store. */
export interface GatheredModule {
  readonly address: ModuleReleaseAddress;
  readonly archive: ModuleArchive;
  /** Bytes. */
  readonly size: number;
  /** `evicted`: it made room for others of the same run. */
  readonly outcome: "stored" | "fetched" | "evicted";
  /** SPECs and FILE:LINEs that requested it. */
  readonly asked: readonly string[];
}

/** A line for standard error. */
export function formatNotCarried({
  where,
  source,
  because,
}: NotCarried): string {
  return `${where}: "${source}" is left to the clients: ${because}.\n`;
}

/** Brings modules into the store and reads what they call and require; each once. */
export class ModulePackages {
  readonly #mirror: OpenMirror;
  readonly #signal: AbortSignal;
  readonly #found = new Map<string, Promise<FoundModule>>();
  readonly #gathered = new Map<string, Omit<GatheredModule, "asked">>();
  readonly #asked = new Map<string, Set<string>>();

  constructor(mirror: OpenMirror, signal: AbortSignal) {
    this.#mirror = mirror;
    this.#signal = signal;
  }

  /** Sorted by name. */
  get gathered(): readonly GatheredModule[] {
    return [...this.#gathered]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => ({
        ...one,
        asked: [...(this.#asked.get(name) ?? [])],
      }));
  }

  readonly open: OpenModule = async (module, constraint, where) => {
    try {
      const choice = newestOf(constraint);
      const [version] = await this.choose(module, choice, where);
      return await this.get({ module, version }, where);
    } catch (error) {
      if (!isFailure(error, "origin-not-served")) throw error;
      return { because: `${error.hostname} is none of "origins"` };
    }
  };

  choose(
    module: ModuleAddress,
    choice: VersionChoice,
    where: string,
  ): Promise<readonly [Version, ...Version[]]> {
    const name = formatModuleAddress(module);
    return chooseVersions(name, choice, where, async () => {
      const { value } = await this.#mirror.modules.listVersions(module);
      return value.versions;
    });
  }

  async get(
    address: ModuleReleaseAddress,
    where: string,
  ): Promise<FoundModule> {
    this.#signal.throwIfAborted();
    const name = formatModuleRelease(address);
    const asked = this.#asked.get(name) ?? new Set();
    this.#asked.set(name, asked.add(where));
    const found = this.#found.get(name) ?? this.#fetch(name, address);
    this.#found.set(name, found);
    return found;
  }

  async #fetch(
    name: string,
    address: ModuleReleaseAddress,
  ): Promise<FoundModule> {
    const { modules, blobs } = this.#mirror;
    const stored = await modules.find(address);
    const archive = await modules.ensureArchive(address, this.#signal);
    if ("foreign" in archive)
      return { because: `only clients can fetch it (${archive.foreign})` };
    const outcome = stored === undefined ? "fetched" : "stored";
    const { sha256 } = archive;
    const blob = await blobs.open(sha256);
    if (blob === undefined)
      throw failure("stored-archive-unreadable", sha256, "it is gone");
    await using handle = blob.handle;
    const { size } = blob;
    this.#gathered.set(name, { address, archive, outcome, size });
    return await readModulePackage(name, archive, { fd: handle.fd, size });
  }
}

const isOfModule = (path: string) => isConfigurationFile(posix.basename(path));

/** Reads the configuration in a module's archive, or returns the reason why it is not carried. */
async function readModulePackage(
  name: string,
  { format, subdirectory }: Pick<ModuleArchive, "format" | "subdirectory">,
  archive: OpenArchive,
): Promise<FoundModule> {
  try {
    const content = await readModuleFiles(
      ...([format, archive, moduleLimits, isOfModule] as const),
    );
    return content === undefined
      ? { because: `what it calls is not seen in a ${format}` }
      : openPackage(name, content, subdirectory);
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    const { message } = error;
    throw failure("module-archive-refused", name, message, { cause: error });
  }
}

/** More links that follow one another are a circle. */
const mostLinks = 40;

/**
 * Opens folders of a module's archive, which is not unpacked. `name` is HOSTNAME/NAMESPACE/NAME/SYSTEM VERSION, `top` the
 * module's folder in it, where a `*` stands for the one folder of its name.
 */
function openPackage(
  name: string,
  { files, links }: ModuleFiles,
  top: string,
): Exclude<FoundModule, { readonly because: string }> {
  const folders = new Map<string, string[]>([["", []]]);
  for (const path of [...files.keys(), ...links.keys()]) {
    for (let at = folderOf(path); !folders.has(at); at = folderOf(at))
      folders.set(at, []);
    folders.get(folderOf(path))?.push(posix.basename(path));
  }
  const shape = top.replaceAll(/[^\w/-]/g, "\\$&").replaceAll("\\*", "[^/]+");
  const whole = new RegExp(`^${shape}$`);
  const tops = [...folders.keys()].filter((folder) => whole.test(folder));
  const own = tops.length === 1 ? (tops[0] ?? top) : top;
  const open = (written: string): Folder => {
    const path = followLinks(links, written);
    const names = folders.get(path);
    const missing = `no folder "${path}" is in it`;
    if (names === undefined)
      throw failure("input", name, missing, "see its caller");
    const show = (file: string) => `${name}//${posix.join(path, file)}`;
    const read = (file: string) => {
      const bytes = files.get(followLinks(links, posix.join(path, file)));
      if (bytes !== undefined) return readInputBytes(show(file), bytes);
      const problem = "it is a link to nothing";
      throw failure("input", show(file), problem, "tell its publisher");
    };
    return {
      key: `${name}//${path}`,
      names: names.filter((one) => !folders.has(posix.join(path, one))),
      show,
      read,
      enter: (call) => open(posix.join(path, call)),
    };
  };
  return { folder: (subdirectory) => open(posix.join(own, subdirectory)) };
}

/** Resolves links in a path; a folder is named without a slash at its end. */
function followLinks(links: ModuleFiles["links"], path: string): string {
  let parts = partsOf(path);
  for (let left = mostLinks; left > 0; left--) {
    const upTo = (at: number) => parts.slice(0, at + 1).join("/");
    const at = parts.findIndex((_, index) => links.has(upTo(index)));
    if (at < 0) break;
    const target = partsOf(links.get(upTo(at)) ?? "");
    parts = [...target, ...parts.slice(at + 1)];
  }
  return parts.join("/");
}

function partsOf(path: string): readonly string[] {
  const parts = posix.normalize(path).split("/");
  return parts.filter((part) => part !== "" && part !== ".");
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
