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
  open(
    module: ModuleAddress,
    constraint: ModuleConstraint,
    where: string,
  ): Promise<FoundModule>;
}

const onlyClientsKnow =
  "only clients know what its expression means, and .terraform/modules/modules.json of an init does not say it";

/** Packages that one configuration may lead to; a registry could name them without end. */
const mostPackages = 1_000;

/**
 * Adds the modules that a configuration calls to those that are at hand,
 * recursively. Local calls of the first ones are followed in the package
 * `within`; those of the disk were followed before.
 */
export async function followModules(
  atHand: readonly Module[],
  registry: string,
  reading: ModuleReading,
  within?: ModulePackage,
) {
  const problems: ProvenderError[] = [];
  const notCarried: NotCarried[] = [];
  const entered = new Set<string>();
  const called = new Set<string>();
  const reached = atHand.map((module) => ({ module, from: within }));
  const enter = async (from: ModulePackage, key: string) => {
    if (entered.has(key)) return;
    entered.add(key);
    reached.push({ module: await from.read(key), from });
  };
  const call = async ({
    source,
    constraint,
    where,
    isExpression,
  }: ModuleCall) => {
    const refuse = (because: string) =>
      notCarried.push({ source: withoutQuery(source), where, because });
    if (isExpression) return refuse(onlyClientsKnow);
    const named = parseModuleCall(source, registry);
    if (named === undefined) return refuse("it is no module of a registry");
    const many = `more than ${mostPackages} modules are called`;
    if (called.add(source).size > mostPackages)
      throw failure("input", where, many, "no configuration needs as many");
    const found = await reading.open(named.address, constraint, where);
    if ("because" in found) return refuse(found.because);
    return enter(found, found.keyOf(named.subdirectory));
  };
  // Those that are reached on the way follow.
  for (const { module, from } of reached) {
    const steps = [
      ...(from ? module.calls.map((key) => () => enter(from, key)) : []),
      ...module.remoteCalls.map((one) => () => call(one)),
    ];
    for (const step of steps)
      try {
        await step();
      } catch (error) {
        if (
          !(error instanceof ProvenderError) ||
          error.code === "hostile-input"
        )
          throw error;
        problems.push(error);
      }
  }
  return { modules: reached.map(({ module }) => module), problems, notCarried };
}

/** More links that follow one another are a circle. */
const mostLinks = 40;

/** The configuration files of a module's archive, which is not unpacked. */
export class ModulePackage {
  /** HOSTNAME/NAMESPACE/NAME/SYSTEM VERSION. */
  readonly name: string;
  readonly #content: ModuleFiles;
  readonly #top: string;
  /** Paths of files and links by their folder. */
  readonly #paths: ReadonlyMap<string, readonly string[]>;
  readonly #folders = new Set([""]);
  readonly #modules = new Map<string, Promise<Module>>();

  /** `top` is the module's folder in the archive, where a `*` stands for the one folder of its name. */
  constructor(name: string, content: ModuleFiles, top: string) {
    this.name = name;
    this.#content = content;
    const paths = [...content.files.keys(), ...content.links.keys()];
    this.#paths = Map.groupBy(paths, folderOf);
    for (const path of paths)
      for (let at = folderOf(path); !this.#folders.has(at); at = folderOf(at))
        this.#folders.add(at);
    const shape = top.replaceAll(/[^\w/-]/g, "\\$&").replaceAll("\\*", "[^/]+");
    const whole = new RegExp(`^${shape}$`);
    const [only = top, ...others] = [...this.#folders].filter((folder) =>
      whole.test(folder),
    );
    this.#top = others.length === 0 ? only : top;
  }

  /** The folder that a call names, from the module's own. */
  keyOf(subdirectory: string): string {
    return this.#keyOf(posix.join(this.#top, subdirectory));
  }

  /** Reads a module by its key in this package. */
  async read(key: string): Promise<Module> {
    const known = this.#modules.get(key) ?? readModule(this.#open(key));
    this.#modules.set(key, known);
    return known;
  }

  #open(key: string): ConfigurationFolder {
    const path = key.slice(this.name.length + 2);
    const missing = `no folder "${path}" is in it`;
    if (!this.#folders.has(path))
      throw failure("input", this.name, missing, "see its caller");
    const paths = this.#paths.get(path) ?? [];
    const show = (name: string) => `${this.name}//${posix.join(path, name)}`;
    return {
      names: paths
        .filter((one) => !this.#folders.has(one))
        .map((one) => posix.basename(one)),
      show,
      read: (name) =>
        Promise.resolve(posix.join(path, name)).then((file) =>
          this.#read(file, show(name)),
        ),
      locate: (call) => Promise.resolve(this.#keyOf(posix.join(path, call))),
    };
  }

  #read(path: string, shown: string): string {
    const bytes = this.#content.files.get(this.#follow(path));
    if (bytes !== undefined) return readInputBytes(shown, bytes);
    const problem = "it is a link to nothing";
    throw failure("input", shown, problem, "tell its publisher");
  }

  #keyOf(path: string): string {
    return `${this.name}//${this.#follow(path)}`;
  }

  /** Resolves links in a path; a folder is named without a slash at its end. */
  #follow(path: string): string {
    const { links } = this.#content;
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
}

function partsOf(path: string): readonly string[] {
  const parts = posix.normalize(path).split("/");
  return parts.filter((part) => part !== "" && part !== ".");
}

function folderOf(path: string): string {
  return partsOf(posix.dirname(path)).join("/");
}
