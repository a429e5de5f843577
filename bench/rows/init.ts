import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  findClients,
  networkMirrorConfig,
  runClient,
} from "../../test/acceptance/clients.ts";
import { hang } from "../../test/fakes/faults.ts";
import { prepareWork } from "../client.ts";
import { startDaemon, startStaticServer } from "../daemon.ts";
import { figure, type Figure, interleave, median, ratioOf } from "../figure.ts";
import { startOrigin } from "../origin.ts";
import type { Effort, Row, Scene } from "../row.ts";
import { scratch } from "../scratch.ts";

const platform = "linux_amd64";

export const init: Row = {
  name: "init",
  what: "terraform init of 12 providers, warm; then with lists out of date and an origin that accepts and is silent",
  against: "nginx with the tree of terraform providers mirror; then warm",
  needs: ["terraform", "nginx"],
  run: measure,
};

async function measure(
  { quick, rounds }: Effort,
  scene: Scene,
): Promise<readonly Figure[]> {
  const origin = scene.add(await startOrigin());
  const types = Array.from({ length: 12 }, (_, n) => `widget${n}`);
  const size = quick ? 10e6 : 60e6;
  scene.remark(`executables of ${size / 1e6} MB, of which half is zipped`);
  // Executables compress, and are deflated.
  const work = await prepareWork(origin, types, [platform], size, "half");
  const nginx = scene.add(await startStaticServer());
  await work.terraform(
    "providers",
    "mirror",
    `-platform=${platform}`,
    nginx.root,
  );
  const directory = scratch("store");
  const daemon = await startDaemon(origin.config, directory);
  const from = await prepareInit(work.directory);
  const ours = () => from(`${daemon.url}providers/`, daemon.ca);
  await ours();
  const warm = await interleave(2 * rounds, ours, () =>
    from(nginx.url, nginx.ca),
  );
  await daemon.stop();
  // From here on it knows the lists from its store alone, and each is out of date.
  const versions = { versions: "1ms" };
  for (const kind of ["discovery", "versions", "package"] as const)
    origin.registry.script(kind, hang);
  const alone = scene.add(
    await startDaemon({ ...origin.config, freshness: versions }, directory),
  );
  const silent: number[] = [];
  for (let round = 0; round < rounds; round++)
    silent.push(await from(`${alone.url}providers/`, alone.ca));
  scene.remark(
    `warm ${median(warm.ours).toFixed(0)} ms, nginx ${median(warm.theirs).toFixed(0)} ms`,
  );
  return [
    figure("time, warm", ratioOf(warm.ours, warm.theirs), "×", "≤", 0.72),
    figure(
      "time, silent origin",
      median(silent) / median(warm.ours),
      "×",
      "≤",
      1.2,
    ),
  ];
}

/** Runs `terraform init` without a lock file, by a network mirror; returns milliseconds. */
async function prepareInit(directory: string) {
  const [client] = await findClients();
  if (client?.name !== "terraform") throw new Error("no terraform");
  const caFile = join(scratch("ca"), "ca.pem");
  return async (url: string, ca: string): Promise<number> => {
    writeFileSync(caFile, ca);
    for (const name of [".terraform", ".terraform.lock.hcl"])
      rmSync(join(directory, name), { force: true, recursive: true });
    const cliConfig = networkMirrorConfig(url);
    const options = { directory, caFile, cliConfig, timeout: 200_000 };
    const start = performance.now();
    const { status, stderr } = await runClient(client, ["init"], options);
    if (status !== 0) throw new Error(stderr);
    return performance.now() - start;
  };
}
