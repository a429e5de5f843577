import { runCommand, type CommandOptions } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage, type CommandStorage } from "../storage.ts";

/** A package, a module or a problem. */
interface Row extends Readonly<
  Partial<Record<"provider" | "module" | "version" | "platform", string>>
> {
  readonly outcome: string;
  readonly code: string;
  readonly error?: { readonly code: string };
}

interface Printed {
  readonly packages: readonly Row[];
  readonly modules: readonly Row[];
  readonly notCarried: readonly { readonly source: string }[];
  readonly problems: readonly Row[];
  readonly interrupted: boolean;
}

/** `provender prefetch` under a configuration, by default into an empty store, and what it prints. */
export function prefetching(config: Readonly<Record<string, unknown>>) {
  return async (
    args: readonly string[],
    {
      storage = makeStorage(config),
      ...options
    }: CommandOptions & { readonly storage?: CommandStorage } = {},
  ) => {
    const command = ["prefetch", "--json", "--config", storage.configFile];
    const all = [...command, ...args];
    const isHere = Object.keys(options).length === 0;
    const run = await (isHere ? runHere(all) : runCommand(all, options));
    const kind = run.status === 2 ? "error" : "prefetch";
    const printed = expectDocument(kind, run.stdout) as Partial<Printed>;
    const { packages = [], modules = [], problems = [] } = printed;
    return {
      ...{ ...run, storage, interrupted: printed.interrupted },
      notCarried: printed.notCarried,
      codes: [...packages.flatMap(({ error }) => error ?? []), ...problems].map(
        ({ code }) => code,
      ),
      packages: packages.map((one) => `${one.provider} ${one.version}`),
      /** Without the hostname and namespace that tests have. */
      outcomes: packages.map(
        (one) =>
          `${one.provider?.replace(/^.*\//, "")} ${one.version} ${one.platform} ${one.outcome}`,
      ),
      modules: modules.map(
        (one) => `${one.module} ${one.version} ${one.outcome}`,
      ),
    };
  };
}
