import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import * as faults from "../../fakes/faults.ts";
import { runCommand } from "../../running-command.ts";
import {
  scratch,
  startMirror,
  writeConfiguration,
} from "../../running-mirror.ts";
import { canBeOthers, source, user } from "../../scenes/other-user.ts";
import {
  ci,
  startDoctorScene,
  freePort,
  yesterday,
  type Diagnosis,
} from "./doctor-scene.ts";

const scene = await startDoctorScene();

/** By what is wrong: how it is built and looked at, and the name of the fault. */
const brokenServers: Readonly<
  Record<string, readonly [() => Promise<Diagnosis>, string]>
> = {
  "an unknown key": [() => scene.server({ lisen: {} }), "configuration"],
  "a disk without the room that is to stay free": [
    () => {
      const storage = { directory: scratch("store"), minFree: "1000TiB" };
      return scene.server({ storage });
    },
    "storage",
  ],
  "a store of a newer program": [
    () => {
      const directory = scratch("store");
      writeFileSync(join(directory, "store.json"), '{"version":99}');
      return scene.server({ storage: { directory } });
    },
    "storage",
  ],
  "an expired certificate": [
    async () => {
      const tls = await scene.certificateFiles(["127.0.0.1"], yesterday());
      return scene.server({ listen: { tls } });
    },
    "certificate",
  ],
  "an origin that is not there": [
    async () => {
      const url = `https://127.0.0.1:${await freePort()}/`;
      return scene.server(scene.origins({ url }));
    },
    "origin",
  ],
  "a bucket that refuses": [() => withBucket(403), "storage"],
  "discovery without providers.v1 and modules.v1": [
    () => scene.whileOrigin(faults.json(() => ({ "login.v1": {} }))),
    "origin",
  ],
};

function onBucket(s3: Readonly<Record<string, unknown>>) {
  const storage = { directory: scratch("store"), s3 };
  const listen = { port: 0, tls: "off" };
  return scene.server({ storage, listen });
}

async function withBucket(status?: number): Promise<Diagnosis> {
  const bucket = await startLooseBucket();
  bucket.intercept = () => status;
  return onBucket(bucket.settings).finally(() => bucket.stop());
}

describe("provender doctor", () => {
  it("finds no fault where all is well, makes nothing, and says so in a table", async () => {
    const tls = await scene.certificateFiles([
      "mirror.example.com",
      "127.0.0.1",
    ]);
    const names = ["mirror.example.com"];
    const config = {
      listen: { tls, names },
      auth: { tokens: [ci.configured] },
    };
    const { faults: wrong, run } = await scene.server(config);
    expect([wrong, run.stderr]).toEqual([[], ""]);
    const args = ["doctor", "--config", scene.mirror.configFile];
    const { status, stdout } = await runCommand(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^ok {4}configuration +\S+ can be used\. It serves registry\.terraform\.io.*\.$/m,
    );
    expect(stdout).not.toMatch(/^(?:fail|warn)/m);
  });

  it("finds no fault in a bucket that answers, nor in a folder for an origin", async () => {
    expect((await withBucket()).faults).toEqual([]);
    const directory = scratch("folder");
    const origins = { "a.example": { directory } };
    expect((await scene.server({ origins })).faults).toEqual([]);
  });

  it.each(Object.entries(brokenServers))(
    "names %s",
    async (_, [look, fault]) => {
      const { faults: wrong, run } = await look();
      expect([wrong, run.stderr]).toEqual([[fault], ""]);
    },
  );
});

/** A store with its folders, of one user alone. */
async function makeStore(): Promise<string> {
  const made = await startMirror({ user });
  await made.stop();
  return made.directory;
}

describe.runIf(canBeOthers)("provender doctor of a store", () => {
  it("finds no fault as root in what is another user's", async () => {
    const storage = { directory: await makeStore() };
    expect((await scene.server({ storage })).faults).toEqual([]);
  });

  it("names a directory that its owner cannot write", async () => {
    const directory = await makeStore();
    chmodSync(join(directory, "staging"), 0o500);
    const { faults: wrong } = await scene.server({ storage: { directory } });
    expect(wrong).toEqual(["storage"]);
  });

  it("names a directory that is another user's", () => {
    const storage = { directory: scratch("of-root") };
    const file = join(scratch("config"), "provender.yaml");
    const config = { offline: true, storage };
    writeConfiguration(file, config);
    for (const path of [storage.directory, dirname(file)])
      chmodSync(path, 0o755);
    const doctor = [source, "doctor", "--config", file];
    const as = { uid: user, gid: user };
    const { status, stdout } = spawnSync(process.execPath, doctor, as);
    expect(status).toBe(1);
    expect(String(stdout)).toMatch(/^fail +storage /m);
  });
});
