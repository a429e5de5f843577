import { createAuthority } from "../test/fakes/authority.ts";
import { alteredByte } from "../test/fakes/faults.ts";
import { startRegistry, type Registry } from "../test/fakes/registry.ts";
import type { Release } from "../test/fakes/release.ts";
import { createSigner } from "../test/fakes/signing.ts";
import { originsOf } from "../test/origins.ts";
import { runCommand } from "../test/running-command.ts";
import { startMirror, type RunningMirror } from "../test/running-mirror.ts";
import { findInstaller, type Installer } from "./installer.ts";
import { address, check, hostname, install, perform, say } from "./stage.ts";

const platforms = ["linux_amd64", "linux_arm64", "darwin_arm64"];

/** Everything that runs; `mirror` changes with a restart. */
interface Stage {
  readonly registry: Registry;
  readonly installer: Installer;
  readonly config: Readonly<Record<string, unknown>>;
  mirror: RunningMirror;
}

async function main(): Promise<void> {
  const authority = await createAuthority();
  const signer = await createSigner({ name: "Acme Releases" });
  const registry = await startRegistry({ authority });
  const size = 8_000_000;
  const details = { platforms, signer, size };
  const release = await registry.publish({ version: "1.2.3", ...details });
  const newer = await registry.publish({ version: "1.3.0", ...details });
  const config = originsOf(authority, registry);
  const mirror = await startMirror({ config });
  const installer = await findInstaller();
  const stage: Stage = { registry, installer, config, mirror };
  try {
    introduce(stage, release);
    await installCold(stage, release);
    await showTrust(stage, release);
    await installWarm(stage, release);
    await refuseAltered(stage, newer);
    await installWithoutOrigin(stage, release);
  } finally {
    await stage.mirror.stop();
    await registry.stop();
  }
}

function introduce({ registry, installer, mirror }: Stage, release: Release) {
  say(`Origin registry  ${registry.url} stands for ${hostname}`);
  say(`Mirror           ${mirror.url}providers/`);
  say(`Client           ${installer.name}`);
  say(`Provider         ${address} ${release.version}`);
  say(`Signed by        ${release.signer.name}, ${release.signer.fingerprint}`);
}

async function installCold(stage: Stage, release: Release): Promise<void> {
  say("\n1. Cold: the mirror has nothing");
  await install(stage, release);
  check(
    stage.registry.requests.count("archive") === 1,
    "the archive was asked for once",
  );
}

async function showTrust({ mirror }: Stage, release: Release): Promise<void> {
  say("\n2. What was verified, and by which key");
  const list = ["trust", "list", "--all", "--config", mirror.configFile];
  const { stdout } = await runCommand(list);
  check(
    stdout.includes(release.signer.fingerprint),
    `SHA256SUMS has a good signature of ${release.signer.fingerprint}`,
  );
  const answer = await mirror.get(`/providers/${address}/1.2.3.json`);
  const { archives } = answer.json() as {
    archives: Record<string, { hashes: string[] } | undefined>;
  };
  for (const { platform, sha256, h1 } of release.archives) {
    const hashes = archives[platform]?.hashes ?? [];
    check(hashes.includes(`zh:${sha256}`), `${platform} zh:${sha256}`);
    if (hashes.includes(h1)) say(`       ${platform} ${h1}`);
  }
}

async function installWarm(stage: Stage, release: Release): Promise<void> {
  say("\n3. Warm: the mirror has it");
  await install(stage, release);
  check(stage.registry.requests.count() === 0, "the origin was not asked");
}

async function refuseAltered(stage: Stage, release: Release): Promise<void> {
  const { registry, installer, mirror } = stage;
  say(`\n4. The origin sends ${release.version} with one byte altered`);
  registry.script("archive", alteredByte(1000));
  const refused = await installer
    .install(mirror, address, release.version)
    .then(
      () => false,
      () => true,
    );
  check(refused, "nothing was installed");
  registry.heal();
  const folder = `/providers/${address}/`;
  const name = `terraform-provider-widget_${release.version}_linux_amd64.zip`;
  const { status } = await mirror.get(`${folder}${name}`);
  check(status === 451, "who tries again is told why, at once and for minutes");
}

async function installWithoutOrigin(
  stage: Stage,
  release: Release,
): Promise<void> {
  say("\n5. The origin is stopped and the mirror is started again");
  await stage.registry.stop();
  await stage.mirror.stop();
  const { directory } = stage.mirror;
  stage.mirror = await startMirror({ config: stage.config, directory });
  await install(stage, release);
}

await perform(main);
