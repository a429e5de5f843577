import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { makeMetricsPage } from "../../packaging/metrics-page.ts";

it("says in docs/metrics.md what the code says", () => {
  const page = new URL("../../docs/metrics.md", import.meta.url);
  expect(readFileSync(page, "utf8")).toBe(makeMetricsPage());
});
