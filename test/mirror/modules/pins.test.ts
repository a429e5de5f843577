import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { moduleAddress } from "../../../src/address/module-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  listOffered,
  pinKey,
  readModuleTrust,
} from "../../../src/mirror/modules/records.ts";
import { makeModulePins } from "../../../src/mirror/modules/pins.ts";
import { asDecided } from "../../../src/mirror/modules/release.ts";
import { TrustEvents } from "../../../src/mirror/trust/trust-events.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import {
  FailingAudit,
  FailingRecords,
  Writes,
} from "../../scenes/failing-writes.ts";
import { makeLayout } from "../../store/stores.ts";

const address = {
  module: moduleAddress("registry.terraform.io", "acme", "network", "aws"),
  version: parseVersion("1.0.0"),
};
const release = asDecided(address);
const { provider } = release;
const offer = (digit: string) => ({ digest: digit.repeat(64) });
const clock = { now: () => new Date(), monotonic: () => 0 };

type Layout = Awaited<ReturnType<typeof makeLayout>>;

/** One process on a store. */
function open(layout: Layout) {
  const writes = new Writes();
  const stored = new FailingRecords(layout, writes);
  const trust = new TrustStore(stored, new ProviderChanges(stored));
  const alarms = new Alarms(pino({ enabled: false }), undefined);
  const audit = new FailingAudit(layout, stored);
  const events = new TrustEvents(trust, { audit, alarms, clock });
  const pins = makeModulePins(stored, trust, events, clock);
  return { writes, stored, trust, alarms, pins };
}

const recordOf = ({ stored }: ReturnType<typeof open>) =>
  stored.read(pinKey(release), readModuleTrust);

const servedBy = async ({ pins }: ReturnType<typeof open>) =>
  (await pins.settle(address))?.digest;

it("the first content that another process pinned stays", async () => {
  const layout = await makeLayout();
  const [one, other] = [open(layout), open(layout)];
  const held = one.writes.hold((name) => name.startsWith("module_pins/"));
  const settling = one.pins.settle(address, offer("a"));
  await held.reached;
  await other.pins.settle(address, offer("b"));
  held.free();
  expect((await settling)?.digest).toBe(offer("b").digest);
  const candidate = { version: "1.0.0", reason: "other-content" };
  expect(await one.trust.readCandidates(provider)).toMatchObject([
    { ...candidate, sha256sums: offer("a").digest },
  ]);
});

it("candidates are bounded, and the pinned content stays in their midst", async () => {
  const layout = await makeLayout();
  const mirror = open(layout);
  const raise = vi.spyOn(mirror.alarms, "raise");
  for (const digit of "0123456789ab")
    await mirror.pins.settle(address, offer(digit));
  expect(await servedBy(mirror)).toBe(offer("0").digest);
  const list = await mirror.trust.readCandidates(provider);
  expect(list.map(({ sha256sums }) => sha256sums[0]).join("")).toBe("456789ab");
  expect((await recordOf(mirror))?.contents).toHaveLength(8);
  // For decisions on what the bounds of a provider left out.
  const offered = await listOffered(mirror.stored, release);
  expect(offered.map(({ sha256sums }) => sha256sums[0]).join("")).toBe(
    "56789ab",
  );
  expect(raise).toHaveBeenCalledTimes(11);
});

it("an offer that is compared pins nothing", async () => {
  const mirror = open(await makeLayout());
  await mirror.pins.compare(address, offer("a"));
  expect(await recordOf(mirror)).toBeUndefined();
});

it.each([
  "module_pins/registry.terraform.io/acme/network/aws/1.0.0",
  "candidates/registry.terraform.io/acme/network/aws",
  "audit first-seen",
  "audit replaced",
])("what could not be written to %s is written later", async (name) => {
  const layout = await makeLayout();
  const failing = open(layout);
  failing.writes.let((one) => (one === name ? "fails" : undefined));
  for (const digit of "ab")
    await failing.pins.settle(address, offer(digit)).catch(() => undefined);
  const mirror = open(layout);
  for (const digit of "ab") await mirror.pins.settle(address, offer(digit));
  const pinned = (await recordOf(mirror))?.pinned;
  expect(await mirror.trust.readCandidates(provider)).toHaveLength(1);
  expect(await servedBy(mirror)).toBe(pinned?.digest);
});
