import { createHash } from "node:crypto";
import {
  findClients,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "../test/acceptance/clients.ts";
import { scratch, type RunningMirror } from "../test/running-mirror.ts";

/** A mirror, or a balancer in front of some. */
export type Source = Pick<RunningMirror, "url" | "caFile" | "get">;

/** Installs one provider version through a mirror into a new directory, as a user who trusts the mirror's CA. */
export interface Installer {
  readonly name: string;
  /** The hashes that the installation was held to; throws with the reason when it is refused. */
  install(
    mirror: Source,
    address: string,
    version: string,
  ): Promise<readonly string[]>;
}

/** The first real client on PATH, else one that does what clients do over plain HTTPS. */
export async function findInstaller(): Promise<Installer> {
  const [client] = await findClients();
  return client === undefined ? plainInstaller : realInstaller(client);
}

function realInstaller(client: Client): Installer {
  return {
    name: `${client.name} ${client.version} init`,
    install: async (mirror, address, version) => {
      const directory = scratch("demo");
      await writeConfiguration(directory, {
        widget: { source: address, version },
      });
      const cliConfig = networkMirrorConfig(`${mirror.url}providers/`);
      const { caFile } = mirror;
      const options = { directory, cliConfig, caFile };
      const { status, output } = await runClient(client, ["init"], options);
      if (status !== 0) throw new Error(output);
      return (await readLockFile(directory)).get(address)?.hashes ?? [];
    },
  };
}

const plainInstaller: Installer = {
  name: "a plain client (no terraform or tofu on PATH)",
  install: async (mirror, address, version) => {
    const folder = `/providers/${address}/`;
    const index = await get(mirror, `${folder}index.json`);
    const { versions } = index.json() as { versions: object };
    if (!(version in versions)) throw new Error(`${version} is not listed`);
    const document = await get(mirror, `${folder}${version}.json`);
    const { archives } = document.json() as {
      archives: Record<string, { url: string; hashes: string[] } | undefined>;
    };
    const { url = "", hashes = [] } = archives.linux_amd64 ?? {};
    const { body } = await get(mirror, folder + url);
    const zh = `zh:${createHash("sha256").update(body).digest("hex")}`;
    if (!hashes.includes(zh)) throw new Error(`${zh} is not expected`);
    return hashes;
  },
};

async function get(mirror: Source, path: string) {
  const answer = await mirror.get(path);
  if (answer.status === 200 && answer.complete) return answer;
  throw new Error(answer.complete ? answer.body.toString() : `${path} was cut`);
}
