import type { ModuleAddress } from "../../address/module-address.ts";
import { withoutQuery } from "../../address/module-source.ts";
import { parseModuleCall } from "../../address/specs/module-spec.ts";
import type { ModuleConstraint } from "../../address/module-constraint.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { Module } from "./configuration-module.ts";
import type { ModulePackage } from "./module-package.ts";
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
