import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { GitRepository, gitBackend } from "../fakes/git-http.ts";
import { FakeModuleRegistry } from "../fakes/module-registry.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import {
  defaultHosts,
  execute,
  findClients,
  isSince,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
const page = join(import.meta.dirname, "..", "..", "docs", "recipes.md");
const platforms = ["linux_amd64", "darwin_arm64"];

let authority: Authority;
let registry: Registry;
let repositories: FakeModuleRegistry;
let release: Release;
let mirror: RunningMirror;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  const root = scratch("git");
  repositories = await FakeModuleRegistry.start({
    authority,
    git: gitBackend(root),
  });
  const repository = await GitRepository.create(join(root, "network"));
  await repository.commit({ "main.tf": 'output "a" { value = "b" }\n' });
  release = await registry.publish({ version: "1.2.3", platforms });
  const underscored = { namespace: "acme_inc", type: "kube", platforms };
  await registry.publish({ ...underscored, version: "1.0.0" });
  const origins = Object.values(defaultHosts).map((host) =>
    Object.entries(originsOf(authority, registry, {}, host).origins),
  );
  const config = { origins: Object.fromEntries(origins.flat()) };
  mirror = await startMirror({ config });
});

afterAll(async () => {
  for (const one of [mirror, registry, repositories]) await one.stop();
});

/** A line of a recipe with this mirror, and other words, in place of the page's. */
function recipe(line: RegExp, words: Readonly<Record<string, string>>): string {
  const [found] = line.exec(readFileSync(page, "utf8")) ?? [];
  if (found === undefined) throw new Error(`no line ${line.source}`);
  return Object.entries(words).reduce(
    (text, [from, to]) => text.replace(from, to),
    found,
  );
}

const through = () => ({
  cliConfig: networkMirrorConfig(`${mirror.url}providers/`),
  caFile: mirror.caFile,
});

async function configure(client: Client, source: string): Promise<string> {
  const directory = scratch("recipe");
  const address = `${defaultHosts[client.name]}/${source}`;
  await writeConfiguration(directory, { it: { source: address } });
  return directory;
}

if (clients.length === 0)
  it.skip("recipes with a real client: none is on PATH", () => undefined);

describe.each(clients)("$name $version", (client) => {
  it("writes a lock file with -net-mirror", async () => {
    const directory = await configure(client, "acme/widget");
    const line = recipe(/(?<=`terraform )providers lock [^`]+/, {
      "https://mirror.example.com/": mirror.url,
    });
    const args = [...line.split(" "), `-platform=${platforms[1]}`];
    const run = await runClient(client, args, { directory, ...through() });
    expect([run.status, run.output]).toEqual([0, expect.any(String)]);
    const address = `${defaultHosts[client.name]}/acme/widget`;
    const hashes = (await readLockFile(directory)).get(address)?.hashes;
    for (const platform of platforms)
      expect(hashes).toContain(release.archive(platform).h1);
  });

  it("fetches modules in git from the mirror of their repositories", async () => {
    const directory = scratch("recipe");
    const source = "git::https://github.com/network/.git";
    writeFileSync(join(directory, "main.tf"), calling(source));
    const home = scratch("home");
    const ca = join(home, "ca.pem");
    writeFileSync(ca, authority.caPem);
    const env = {
      GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
      GIT_SSL_CAINFO: ca,
    };
    const line = recipe(/git config --global .*/, {
      "https://git.example.com/mirror/": `${repositories.url}git/`,
    });
    const { PATH } = process.env;
    const set = await execute("sh", ["-c", line], { env: { PATH, ...env } });
    expect(set.status).toBe(0);
    const run = await runClient(client, ["init", "-no-color"], {
      ...{ directory, env, ...through() },
    });
    expect([run.status, run.output]).toEqual([0, expect.any(String)]);
  });
});

const underscoring = clients.filter(
  (client) => client.name === "terraform" && isSince(client, 16),
);
if (underscoring.length === 0)
  console.error(
    "NOT TESTED with a namespace with underscores: no Terraform is 1.16 or later.",
  );

describe.each(underscoring)("$name $version", (client) => {
  it("installs from a namespace with underscores", async () => {
    const directory = await configure(client, "acme_inc/kube");
    const run = await runClient(client, ["init", "-no-color"], {
      directory,
      ...through(),
    });
    expect([run.status, run.output]).toEqual([0, expect.any(String)]);
  });
});
