import { posix } from "node:path";
import type { ModuleAddress } from "../../address/module-address.ts";
import type { ModuleConstraint } from "../../address/module-constraint.ts";
import { withoutQuery } from "../../address/module-source.ts";
import { parseModuleCall } from "../../address/specs/module-spec.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { ModuleFiles } from "../../mirror/modules/files.ts";
import {
  type ConfigurationFolder,
  type Module,
  readModule,
} from "./configuration-module.ts";
import { readInputBytes } from "./input-file.ts";
import type { ModuleCall } from "./required-providers.ts";

/** A module that is called and that no mirror has for clients. */
export interface NotCarried {
  /** Without what may be a secret. */
  readonly source: string;
  readonly where: string;
  readonly because: string;
}

/** Module's package, or the reason why it is not carried. */
export type FoundModule = ModulePackage | { readonly because: string };

/** Gets modules of registries: the newest version that the constraint allows. */
export interface ModuleReading {
  /** Throws ProvenderError. */
  open(
    module: ModuleAddress,
    constraint: ModuleConstraint,
    where: string,
  ): Promise<FoundModule>;
}

/** Modules that were reached through calls. */
interface FollowedModules {
  readonly modules: readonly Module[];
  readonly problems: readonly ProvenderError[];
  readonly notCarried: readonly NotCarried[];
}

const onlyClientsKnow =
  "only clients know what its expression means, and .terraform/modules/modules.json of an init does not say it";

/**
 * Packages that one configuration may lead to; a registry could name them
 * without end.
 */
const mostPackages = 1_000;

/**
 * Collects the modules that a configuration calls and that are not on its own
 * disk, recursively.
 */
export async function followModules(
  callers: readonly Module[],
  defaultHostname: string,
  reading: ModuleReading,
): Promise<FollowedModules> {
  const walk = new Walk(defaultHostname, reading);
  for (const module of callers) await walk.follow(module, undefined);
  return walk;
}

/** The modules of one package, and of those that they call. */
export async function followPackage(
  found: ModulePackage,
  defaultHostname: string,
  reading: ModuleReading,
): Promise<FollowedModules> {
  const walk = new Walk(defaultHostname, reading);
  await walk.enter(found, found.keyOf(""));
  return walk;
}

class Walk implements FollowedModules {
  readonly modules: Module[] = [];
  readonly problems: ProvenderError[] = [];
  readonly notCarried: NotCarried[] = [];
  readonly #entered = new Set<string>();
  readonly #called = new Set<string>();
  readonly #defaultHostname: string;
  readonly #reading: ModuleReading;

  constructor(defaultHostname: string, reading: ModuleReading) {
    this.#defaultHostname = defaultHostname;
    this.#reading = reading;
  }

  /** `from` is where its local calls are; those of the disk were read before. */
  async follow(
    { calls, remoteCalls }: Module,
    from: ModulePackage | undefined,
  ): Promise<void> {
    if (from !== undefined)
      for (const key of calls) await this.enter(from, key);
    for (const call of remoteCalls) await this.#note(() => this.#call(call));
  }

  async enter(found: ModulePackage, key: string): Promise<void> {
    if (this.#entered.has(key)) return;
    this.#entered.add(key);
    await this.#note(async () => {
      const module = await found.read(key);
      this.modules.push(module);
      await this.follow(module, found);
    });
  }

  async #note(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ProvenderError) || error.code === "hostile-input")
        throw error;
      this.problems.push(error);
    }
  }

  async #call(call: ModuleCall): Promise<void> {
    const { source, constraint, where, isExpression } = call;
    const refuse = (because: string) =>
      this.notCarried.push({ source: withoutQuery(source), where, because });
    if (isExpression) {
      refuse(onlyClientsKnow);
      return;
    }
    const named = parseModuleCall(source, this.#defaultHostname);
    if (named === undefined) {
      refuse("it is no module of a registry");
      return;
    }
    this.#called.add(source);
    if (this.#called.size > mostPackages)
      throw failure(
        "input",
        where,
        `more than ${mostPackages} modules are called`,
        "no configuration needs as many",
      );
    const found = await this.#reading.open(named.address, constraint, where);
    if ("because" in found) refuse(found.because);
    else await this.enter(found, found.keyOf(named.subdirectory));
  }
}

/** More links that follow one another are a circle. */
const mostLinks = 40;

/** The configuration files of a module's archive, which is not unpacked. */
export class ModulePackage {
  /** HOSTNAME/NAMESPACE/NAME/SYSTEM VERSION. */
  readonly name: string;
  readonly #content: ModuleFiles;
  readonly #top: string;
  readonly #names = new Map<string, string[]>();
  readonly #modules = new Map<string, Promise<Module>>();

  /** `top` is the module's folder in the archive, where a `*` stands for the one folder of its name. */
  constructor(name: string, content: ModuleFiles, top: string) {
    this.name = name;
    this.#content = content;
    for (const path of [...content.files.keys(), ...content.links.keys()])
      this.#list(path);
    this.#top = top.includes("*") ? this.#find(top) : top;
  }

  /** The folder that a call names, from the module's own. */
  keyOf(subdirectory: string): string {
    return this.#keyOf(posix.join(this.#top, subdirectory));
  }

  /**
   * Reads a module by its key in this package. Throws an input error where there
   * is no such folder.
   */
  async read(key: string): Promise<Module> {
    const known = this.#modules.get(key) ?? readModule(this.#open(key));
    this.#modules.set(key, known);
    return known;
  }

  #open(key: string): ConfigurationFolder {
    const path = key.slice(this.name.length + 2);
    const names = this.#names.get(path);
    if (names === undefined)
      throw failure(
        "input",
        this.name,
        `no folder "${path}" is in it`,
        "see its caller",
      );
    const fileOf = (name: string) => posix.join(path, name);
    const show = (name: string) => `${this.name}//${fileOf(name)}`;
    return {
      names: names.filter((name) => !this.#names.has(fileOf(name))),
      show,
      read: (name) =>
        Promise.resolve().then(() => this.#read(fileOf(name), show(name))),
      locate: (call) => Promise.resolve(this.#keyOf(posix.join(path, call))),
    };
  }

  #keyOf(path: string): string {
    return `${this.name}//${this.#follow(path)}`;
  }

  #read(path: string, shown: string): string {
    const bytes = this.#content.files.get(this.#follow(path));
    if (bytes === undefined)
      throw failure(
        "input",
        shown,
        "it is a link to nothing",
        "tell its publisher",
      );
    return readInputBytes(shown, bytes);
  }

  /** Resolves links in a path; a folder is named without a slash at its end. */
  #follow(path: string): string {
    let parts = partsOf(path);
    for (let left = mostLinks; left > 0; left--) {
      const at = parts.findIndex((_, index) =>
        this.#content.links.has(parts.slice(0, index + 1).join("/")),
      );
      if (at < 0) break;
      const target = this.#content.links.get(parts.slice(0, at + 1).join("/"));
      parts = [...partsOf(target ?? ""), ...parts.slice(at + 1)];
    }
    return parts.join("/");
  }

  #list(path: string): void {
    const folder = posix.dirname(path);
    const key = folder === "." ? "" : folder;
    const names = this.#names.get(key);
    if (names !== undefined) names.push(posix.basename(path));
    else {
      this.#names.set(key, [posix.basename(path)]);
      if (key !== "") this.#list(key);
    }
  }

  #find(pattern: string): string {
    const shape = pattern.replaceAll(/[^\w/-]/g, "\\$&");
    const whole = new RegExp(`^${shape.replaceAll("\\*", "[^/]+")}$`);
    const found = [...this.#names.keys()].filter((name) => whole.test(name));
    return found.length === 1 ? (found[0] ?? pattern) : pattern;
  }
}

function partsOf(path: string): readonly string[] {
  return posix
    .normalize(path)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
}
