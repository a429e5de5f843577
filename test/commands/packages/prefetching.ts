import { runCommand, type CommandOptions } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage, type CommandStorage } from "../storage.ts";

type Facts<Names extends string> = Readonly<Record<Names, string>>;

interface Printed {
  readonly packages: readonly (Facts<
    "provider" | "version" | "platform" | "outcome"
  > & { readonly error?: Facts<"code"> })[];
  readonly modules: readonly Facts<"module" | "version" | "outcome">[];
  readonly notCarried: readonly Facts<"source" | "because">[];
  readonly problems: readonly Facts<"code">[];
  readonly interrupted: boolean;
}

interface Options extends CommandOptions {
  readonly storage?: CommandStorage;
}

/** `provender prefetch` under a configuration, by default into an empty store, and what it prints. */
export function prefetching(config: Readonly<Record<string, unknown>>) {
  return async (
    args: readonly string[],
    { storage = makeStorage(config), ...options }: Options = {},
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
        ({ provider, version, platform, outcome }) =>
          `${provider.replace(/^.*\//, "")} ${version} ${platform} ${outcome}`,
      ),
      modules: modules.map(
        (one) => `${one.module} ${one.version} ${one.outcome}`,
      ),
    };
  };
}
