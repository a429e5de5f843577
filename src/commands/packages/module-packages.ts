import { posix } from "node:path";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { VersionSelection } from "../../address/spec.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import {
  formatModuleRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import {
  ArchiveRefused,
  moduleLimits,
} from "../../verification/archives/limits.ts";
import {
  followLink,
  splitPath,
  type Visit,
} from "../../verification/archives/members.ts";
import { readMembers } from "../../verification/archives/module-archive.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import {
  followModules,
  type FoundModule,
  isConfigurationFile,
  type Module,
  type NotCarried,
  type OpenModule,
  readModule,
} from "../inputs/configuration.ts";
import { readInputBytes } from "../inputs/input-file.ts";
import { chooseVersions } from "./version-choice.ts";

/** A module that is in the store. */
export interface GatheredModule {
  readonly address: ModuleReleaseAddress;
  readonly archive: ModuleArchive;
  /** Bytes. */
  readonly size: number;
  /** `evicted`: it made room for others of the same run. */
  readonly outcome: "stored" | "fetched" | "evicted";
  /** SPECs and FILE:LINEs that requested it. */
  readonly asked: ReadonlySet<string>;
}

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
  readonly #gathered = new Map<string, GatheredModule>();
  readonly #asked = new Map<string, Set<string>>();

  constructor(mirror: OpenMirror, signal: AbortSignal) {
    this.#mirror = mirror;
    this.#signal = signal;
  }

  /** Sorted by name. */
  get gathered(): readonly GatheredModule[] {
    return [...this.#gathered]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, one]) => one);
  }

  readonly open: OpenModule = async (module, constraint, where) => {
    try {
      const selection = { kind: "constraint", constraint } as const;
      const versions = await this.choose(module, selection, where);
      return await this.#get({ module, version: versions[0] }, where);
    } catch (error) {
      if (!isFailure(error, "origin-not-served")) throw error;
      return { because: `${error.hostname} is none of "origins"` };
    }
  };

  /** Clients always ask for the list, in which `1.2.3` may be `1.2.3+build`. */
  choose(
    module: ModuleAddress,
    selection: VersionSelection,
    where: string,
  ): Promise<readonly [Version, ...Version[]]> {
    const name = formatModuleAddress(module);
    return chooseVersions(name, selection, where, async () => {
      const { value } = await this.#mirror.modules.listVersions(module);
      return value.versions;
    });
  }

  /** What a module and all that it calls require, as if a configuration called nothing else. */
  async follow(
    address: ModuleReleaseAddress,
    where: string,
  ): ReturnType<typeof followModules> {
    const found = await this.#get(address, where);
    if ("because" in found) {
      const source = formatModuleRelease(address);
      const notCarried = [{ ...found, source, where }];
      return { requirements: [], problems: [], notCarried };
    }
    const { hostname } = address.module;
    const registry =
      hostname === "registry.opentofu.org" ? hostname : "registry.terraform.io";
    return followModules(await found.enter(""), registry, this.open);
  }

  #get(address: ModuleReleaseAddress, where: string): Promise<FoundModule> {
    this.#signal.throwIfAborted();
    const name = formatModuleRelease(address);
    const asked = this.#asked.get(name) ?? new Set();
    this.#asked.set(name, asked.add(where));
    const found = this.#found.get(name) ?? this.#fetch(name, address, asked);
    this.#found.set(name, found);
    return found;
  }

  async #fetch(
    name: string,
    address: ModuleReleaseAddress,
    asked: ReadonlySet<string>,
  ): Promise<FoundModule> {
    const { modules, blobs } = this.#mirror;
    const stored = await modules.find(address);
    const archive = await modules.ensureArchive(address);
    if ("foreign" in archive)
      return { because: `only clients can fetch it (${archive.foreign})` };
    const outcome = stored === undefined ? "fetched" : "stored";
    const { sha256, format, subdirectory } = archive;
    const blob = await blobs.open(sha256);
    if (blob === undefined)
      throw failure("stored-archive-damaged", sha256, "it is gone");
    await using handle = blob.handle;
    const { size } = blob;
    this.#gathered.set(name, { address, archive, outcome, size, asked });
    if (format !== "zip" && format !== "tar.gz")
      return { because: `what it calls is not seen in a ${format}` };
    const opened = { fd: handle.fd, size };
    const content = await readConfiguration(format, opened).catch(
      (cause: unknown) => {
        if (!(cause instanceof ArchiveRefused)) throw cause;
        throw failure("module-archive-refused", name, cause.message, { cause });
      },
    );
    return openPackage(name, content, subdirectory);
  }
}

/** Configuration files of an archive by their paths, whose parts are joined by one slash each, and targets of links, from the top. */
async function readConfiguration(
  format: "zip" | "tar.gz",
  archive: OpenArchive,
) {
  const pathOf = (name: string) => (splitPath(name) ?? []).join("/");
  const pieces = new Map<string, Buffer[]>();
  const visit: Visit = ({ kind, name }) => {
    if (kind !== "file" || !isConfigurationFile(posix.basename(name)))
      return undefined;
    const own: Buffer[] = [];
    pieces.set(pathOf(name), own);
    return (piece) => own.push(Buffer.from(piece));
  };
  const members = await readMembers(format, archive, moduleLimits, visit);
  const links = new Map<string, string>();
  for (const { name, kind, target = "" } of members) {
    const folder = (splitPath(name) ?? []).slice(0, -1);
    if (kind === "hard link") links.set(pathOf(name), pathOf(target));
    if (kind === "symbolic link")
      links.set(pathOf(name), (followLink(folder, target) ?? []).join("/"));
  }
  const files = [...pieces].map(
    ([path, own]) => [path, Buffer.concat(own)] as const,
  );
  return { files: new Map(files), links };
}

/**
 * Opens folders of a module's archive, which is not unpacked. `name` is HOSTNAME/NAMESPACE/NAME/SYSTEM VERSION, `top` the
 * module's folder in it, where a `*` stands for the one folder of its name.
 */
function openPackage(
  name: string,
  { files, links }: Awaited<ReturnType<typeof readConfiguration>>,
  top: string,
): FoundModule {
  const paths = [...files.keys(), ...links.keys()];
  const modules = new Map<string, Promise<Module>>();
  const open = async (written: string): Promise<Module> => {
    const folder = followLinks(links, written);
    const start = folder === "" ? "" : `${folder}/`;
    const names = paths
      .filter((path) => path.startsWith(start))
      .map((path) => path.slice(start.length));
    const missing = `no folder "${folder}" is in it`;
    if (folder !== "" && names.length === 0)
      throw failure("input", name, missing, "see its caller");
    const show = (file: string) => `${name}//${start}${file}`;
    const read = (file: string) => {
      const bytes = files.get(followLinks(links, `${start}${file}`));
      if (bytes !== undefined) return readInputBytes(show(file), bytes);
      const problem = "it is a link to nothing";
      throw failure("input", show(file), problem, "tell its publisher");
    };
    const module =
      modules.get(folder) ??
      readModule(names, show, read).then((found) => ({
        ...{ ...found, key: `${name}//${folder}` },
        enter: (call: string) => open(posix.join(folder, call)),
      }));
    modules.set(folder, module);
    return module;
  };
  const shape = top.replaceAll(/[^\w/-]/g, "\\$&").replaceAll("\\*", "[^/]+");
  const inside = new RegExp(`^(${shape})/`);
  const tops = new Set(paths.flatMap((path) => inside.exec(path)?.[1] ?? []));
  const [own = top] = tops.size === 1 ? tops : [];
  return { enter: (subdirectory) => open(posix.join(own, subdirectory)) };
}

/** More links that follow one another are a circle. */
const mostLinks = 40;

/** Resolves links in a path; a folder is named without a slash at its end. */
function followLinks(links: ReadonlyMap<string, string>, path: string): string {
  const partsOf = (text: string) =>
    posix
      .normalize(text)
      .split("/")
      .filter((part) => part !== "" && part !== ".");
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
