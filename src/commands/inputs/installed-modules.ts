import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  formatModuleConstraint,
  parseModuleConstraint,
  type ModuleConstraint,
} from "../../address/module-constraint.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import type { Module } from "./configuration-module.ts";
import { readInputFile } from "./input-file.ts";
import { isLocalSource, type ModuleCall } from "./required-providers.ts";

/** Modules of no registry have no version. */
function readVersion(text: string): ModuleConstraint {
  return text === "" ? [] : parseModuleConstraint(text);
}

/** A call as an `init` installed it: labels from the root on, joined by dots. */
const shape = z.object({
  Modules: z.array(
    z.object({
      Key: z.string(),
      Source: z.string(),
      Version: z.string().default("").transform(readVersion),
      /** Path from the root. */
      Dir: z.string(),
    }),
  ),
});

type Entry = z.infer<typeof shape>["Modules"][number];

interface Installed {
  readonly byKey: ReadonlyMap<string, Entry>;
  /** Keys of the calls that lead to a directory, by its real path. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

const nothingInstalled: Installed = { byKey: new Map(), keys: new Map() };

/**
 * Modules that an `init` in a root directory installed, as recorded in
 * `.terraform/modules/modules.json`. Only that file resolves a source that is
 * an expression.
 */
export class InstalledModules {
  readonly #root: string;
  #read: Promise<Installed> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Lists the real paths of the directories that calls lead to; none where no `init` was. */
  async listDirectories(): Promise<readonly string[]> {
    this.#read ??= this.#readFile();
    // The call reports its own problem with an unreadable file.
    const { keys } = await this.#read.catch(() => nothingInstalled);
    return [...keys].flatMap(([real, named]) =>
      named.includes("") ? [] : [real],
    );
  }

  /**
   * Resolves the calls of a module in the directory `real` whose source or
   * version is an expression. Other calls stay unchanged.
   */
  async resolve(real: string, module: Module): Promise<Module> {
    const isLeft = ({ isExpression }: ModuleCall) => isExpression;
    if (!module.remoteCalls.some(isLeft)) return module;
    const calls = [...module.calls];
    const remoteCalls: ModuleCall[] = [];
    const problems: Failure<"input">[] = [];
    try {
      this.#read ??= this.#readFile();
      const installed = await this.#read;
      for (const call of module.remoteCalls) {
        const found = call.isExpression ? findAll(installed, real, call) : [];
        if (found.length === 0) remoteCalls.push(call);
        for (const entry of found)
          if (isLocalSource(entry.Source))
            calls.push(await this.#locate(entry));
          else remoteCalls.push(asCall(call, entry));
      }
    } catch (error) {
      if (!isFailure(error, "input")) throw error;
      problems.push(error);
      remoteCalls.push(...module.remoteCalls);
    }
    return {
      ...module,
      ...{ calls, remoteCalls },
      problems: [...module.problems, ...problems],
    };
  }

  async #readFile(): Promise<Installed> {
    const path = join(this.#root, ".terraform", "modules", "modules.json");
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere) return nothingInstalled;
    const { Modules } = parse(path, await readInputFile(path));
    // The root stays one, also where a call leads to it.
    const keys = new Map([[await realpath(this.#root), [""]]]);
    for (const entry of Modules) {
      const real = await this.#locate(entry);
      const known = keys.get(real);
      if (known === undefined) keys.set(real, [entry.Key]);
      else known.push(entry.Key);
    }
    return { keys, byKey: new Map(Modules.map((one) => [one.Key, one])) };
  }

  #locate({ Dir }: Entry): Promise<string> {
    const path = join(this.#root, Dir);
    return realpath(path).catch(() => path);
  }
}

/** One call may be reached by several ways, on each of which its expression may mean something else. */
function findAll(
  { byKey, keys }: Installed,
  real: string,
  { name }: ModuleCall,
): readonly Entry[] {
  const found = (keys.get(real) ?? []).flatMap((key) => {
    const entry = byKey.get(key === "" ? name : `${key}.${name}`);
    return entry === undefined ? [] : [entry];
  });
  const named = ({ Source, Version }: Entry) =>
    `${Source} ${formatModuleConstraint(Version)}`;
  return [...new Map(found.map((one) => [named(one), one])).values()];
}

function asCall(call: ModuleCall, { Source, Version }: Entry): ModuleCall {
  const named = { source: Source, constraint: Version };
  return { ...call, ...named, isExpression: false };
}

function parse(path: string, text: string): z.infer<typeof shape> {
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    throw failure(
      "input",
      path,
      `it is not what "init" writes`,
      `remove it and run "init" again`,
      { cause: error },
    );
  }
}
