import { expect, it } from "vitest";
import { startLooseBucket } from "../fakes/loose-bucket.ts";
import { has } from "../packaging/release.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { testRules } from "../scenes/alert-rules.ts";
import { awaitLine } from "../scenes/log-lines.ts";
import { countAlarms } from "../scenes/provider-requests.ts";

const kind = "bucket-failing";
const canTestRules = await has("promtool", "that a rule sees a lost bucket");

it("raises an alarm when its bucket goes away, which the log, the numbers, the page and a rule show", async () => {
  const bucket = await startLooseBucket({ keepsConditions: true });
  const listen = { port: 0, tls: "off" };
  const storage = { directory: scratch("replica"), s3: bucket.settings };
  const mirror = await startMirror({ config: { listen, storage } });
  const before = await countAlarms(mirror, kind);
  await bucket.stop();
  await awaitLine(mirror, ({ alarm }) => alarm === kind);
  const after = await countAlarms(mirror, kind);
  const page = (await mirror.get("/alarms")).body.toString();
  await mirror.stop();
  expect([before, after]).toEqual([0, 1]);
  expect(page).toContain(`<code>${kind}</code>`);
  if (!canTestRules) return;
  const series = `provender_alarms_total{kind="${kind}"}`;
  await testRules([
    {
      series: { [series]: `${before}+0x3 ${after}+0x2` },
      at: "20m",
      firing: { [`kind="${kind}"`]: 1 },
    },
  ]);
});
