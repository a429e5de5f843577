import { afterAll, beforeAll, expect, it } from "vitest";
import {
  auth,
  AuthenticationScene,
  folder,
} from "../scenes/authentication-scene.ts";
import { awaitLine } from "../scenes/log-lines.ts";

let scene: AuthenticationScene;
beforeAll(async () => {
  scene = await AuthenticationScene.start();
});
afterAll(() => scene.stop());

const failures = () =>
  scene.mirror.log.filter(
    ({ msg }) => msg === "the configuration in use is kept",
  );
const withoutToken = async () =>
  (await scene.mirror.get(`${folder}index.json`)).status;

it.each([
  ["an empty list", { tokens: [] }],
  ["no list", { tokens: null }],
])("%s of tokens keeps those in use", async (_, changed) => {
  const before = failures().length;
  await scene.reload({ auth: changed });
  expect(failures().length).toBe(before + 1);
  expect(failures().at(-1)?.error).toMatch(
    /"auth\.tokens" is empty: .*auth: off/,
  );
  expect(await withoutToken()).toBe(401);
  const { body } = await scene.withToken("/metrics");
  expect(body.toString()).toContain(
    "provender_config_last_reload_successful 0\n",
  );
  expect(body.toString()).toMatch(
    /provender_config_reloads_total\{result="failed"\} [1-9]/,
  );
});

it("names changed keys that wait for the next start, and says when all are in use again", async () => {
  const before = scene.mirror.log.length;
  await scene.reload({ auth, limits: { archive: "1GiB" }, offline: true });
  const line = await awaitLine(
    scene.mirror,
    ({ keys }) => keys !== undefined,
    before,
  );
  expect(line.keys).toEqual(["offline", "limits.archive"]);
  await scene.reload({ auth, limits: {}, offline: false });
  const { body } = await scene.withToken("/metrics");
  expect(body.toString()).toContain(
    "provender_config_last_reload_successful 1\n",
  );
});

it("lets everybody ask when authentication is turned off in so many words", async () => {
  await scene.reload({ auth: "off" });
  expect(await withoutToken()).toBe(200);
  expect(scene.mirror.log).toContainEqual(
    expect.objectContaining({
      msg: "authentication is off now: anybody may ask",
    }),
  );
});
