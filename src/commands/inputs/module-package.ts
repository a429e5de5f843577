import { posix } from "node:path";
import { failure } from "../../errors/index.ts";
import type { ModuleFiles } from "../../mirror/modules/files.ts";
import {
  readModule,
  type ConfigurationFolder,
  type Module,
} from "./configuration-module.ts";
import { readInputBytes } from "./input-file.ts";

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
