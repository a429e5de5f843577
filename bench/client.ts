import {
  directConfig,
  findClients,
  runClient,
  writeConfiguration,
  type RequiredProviders,
} from "../test/acceptance/clients.ts";
import { makeStorage, type CommandStorage } from "../test/commands/storage.ts";
import { runCommand } from "../test/running-command.ts";
import type { Origin } from "./origin.ts";
import { keepCa, scratch } from "./scratch.ts";

/** A configuration directory that requires some published types, for terraform and for us. */
export interface Work {
  readonly directory: string;
  /** Milliseconds that terraform took, straight from the origin. */
  readonly terraform: (...args: string[]) => Promise<number>;
  readonly storage: CommandStorage;
  /** Milliseconds that a command of ours took, with the store of this work. */
  readonly provender: (...args: string[]) => Promise<number>;
}

/** Publishes these types at version 1.0.0, executables of `size` bytes for each platform, and requires them all. */
export async function prepareWork(
  { registry, ca, config }: Origin,
  types: readonly string[],
  platforms: readonly string[],
  size: number,
  content: "random" | "half" = "random",
): Promise<Work> {
  for (const type of types)
    await registry.publish({
      type,
      version: "1.0.0",
      platforms,
      size,
      content,
    });
  const storage = makeStorage(config, scratch("store"));
  const directory = scratch("work");
  await writeConfiguration(directory, requireAll(types));
  const caFile = keepCa(ca);
  const cliConfig = directConfig(registry.providersUrl);
  return {
    ...{ directory, storage },
    terraform: async (...args) => {
      const [client] = await findClients();
      if (client?.name !== "terraform") throw new Error("no terraform");
      const options = { directory, caFile, cliConfig, timeout: 200_000 };
      return timeOf(() => runClient(client, args, options));
    },
    provender: (...args) => timeOf(() => runOurs(storage, directory, args)),
  };
}

function requireAll(types: readonly string[]): RequiredProviders {
  return Object.fromEntries(
    types.map((type) => [
      type,
      { source: `registry.terraform.io/acme/${type}`, version: "1.0.0" },
    ]),
  );
}

function runOurs(
  { configFile }: CommandStorage,
  directory: string,
  [command = "", ...args]: readonly string[],
) {
  return runCommand([command, "--config", configFile, ...args], {
    cwd: directory,
  });
}

/** Measures work; throws when it fails. */
async function timeOf(
  work: () => Promise<{
    readonly status: number | null;
    readonly stderr: string;
  }>,
): Promise<number> {
  const start = performance.now();
  const { status, stderr } = await work();
  if (status !== 0) throw new Error(stderr);
  return performance.now() - start;
}
