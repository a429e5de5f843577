import { describe, expect, it } from "vitest";
import { FailingRecords, Writes } from "../../scenes/failing-writes.ts";
import { place, prepareTrust, revokeK } from "../../scenes/trust-records.ts";

describe("a decision whose process is killed", () => {
  const steps = [1, 2].flatMap((step) =>
    (["dies before", "dies after"] as const).map((fate) => ({ step, fate })),
  );

  it.each(steps)(
    "at write $step ($fate) is none, or its loss is noticed from when it is read",
    async ({ step, fate }) => {
      const { open, writes, reopen, lose } = await prepareTrust();
      writes.letOne(step, fate);
      await expect(open().decide(revokeK)).rejects.toThrow("killed");
      const read = await open(reopen()).renew();
      const isMade = step === 2 || fate === "dies after";
      expect(read.decisions.keys).toHaveLength(isMade ? 1 : 0);
      if (!isMade) return;
      lose(place.namespace);
      const after = open(reopen()).renew();
      await expect(after).rejects.toMatchObject({ code: "record-unreadable" });
    },
  );

  it("is read on a disk that takes no mark", async () => {
    const { open, writes, layout } = await prepareTrust();
    writes.letOne(2, "dies before");
    await expect(open().decide(revokeK)).rejects.toThrow("killed");
    const full = new Writes();
    full.let(() => "fails");
    const entry = open(new FailingRecords(layout, full));
    expect((await entry.renew()).decisions.keys).toHaveLength(1);
  });
});
