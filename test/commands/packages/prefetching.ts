import { runCommand, type CommandOptions } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage, type CommandStorage } from "../storage.ts";

type Name = "provider" | "module" | "version" | "platform" | "outcome";

/** A package, a module or a problem. */
type Row = Readonly<Record<Name | "code" | "source", string>> & {
  readonly error?: { readonly code: string };
};

type Printed = Readonly<
  Record<"packages" | "modules" | "notCarried" | "problems", readonly Row[]>
> & { readonly interrupted: boolean };

/** `provender prefetch` under a configuration, by default into an empty store, and what it prints. */
export function prefetching(config: Readonly<Record<string, unknown>>) {
  return async (
    args: readonly string[],
    {
      storage = makeStorage(config),
      ...options
    }: CommandOptions & { readonly storage?: CommandStorage } = {},
  ) => {
    const all = ["prefetch", "--json", "--config", storage.configFile, ...args];
    const isHere = Object.keys(options).length === 0;
    const run = await (isHere ? runHere(all) : runCommand(all, options));
    const printed = expectDocument("prefetch", run.stdout) as Printed;
    const { packages, modules, problems, ...rest } = printed;
    const errors = packages.flatMap(({ error }) => error ?? []);
    return {
      ...{ ...run, ...rest, storage },
      codes: [...errors, ...problems].map(({ code }) => code),
      packages: packages.map((one) => `${one.provider} ${one.version}`),
      /** Without the hostname and namespace that tests have. */
      outcomes: packages.map(
        (one) =>
          `${one.provider.replace(/^.*\//, "")} ${one.version} ${one.platform} ${one.outcome}`,
      ),
      modules: modules.map(
        (one) => `${one.module} ${one.version} ${one.outcome}`,
      ),
    };
  };
}
