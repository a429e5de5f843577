import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLinePage } from "../packaging/command-line-page.ts";
import { configurationPage } from "../packaging/configuration-page.ts";
import { metricsPage } from "../packaging/metrics-page.ts";
import { root } from "../packaging/project.ts";
import { prometheusRule } from "../packaging/prometheus-rule.ts";
import { errorCodes, statusOfCode } from "../src/errors/index.ts";
import { makeRouter, type AppParts } from "../src/server/app.ts";
import { layOutStore } from "../src/store/layout.ts";
import { auditEvents, auditFields } from "../src/telemetry/audit-entry.ts";

const read = (name: string) => readFileSync(join(root, "docs", name), "utf8");

/** Reads the code in the cells of a page's tables, by row and column. */
function rowsOf(text: string): readonly (readonly string[][])[] {
  return [...text.matchAll(/^\|(.*)\|$/gm)].map(([, row = ""]) =>
    row
      .split("|")
      .map((cell) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word),
      ),
  );
}

const firstCells = (text: string) =>
  rowsOf(text).flatMap(([first]) => first ?? []);

it.each([commandLinePage, configurationPage, metricsPage, prometheusRule])(
  "$path is what is made from its source",
  ({ path, text }) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(text);
  },
);

describe("docs/http.md", () => {
  const page = read("http.md");

  it("has every URL that is answered, and no other", () => {
    const paths = makeRouter({} as AppParts).stack.map(({ path }) =>
      String(path),
    );
    const documented = firstCells(page).filter((cell) => cell.startsWith("/"));
    expect(documented.sort()).toEqual(paths.sort());
  });

  it("has every code that is answered, with its status", () => {
    const documented = [...page.matchAll(/^\| ([\d, ]+) \|(.*)$/gm)].flatMap(
      ([, status = "", row = ""]) =>
        [...(row.split("|").at(1) ?? "").matchAll(/`([a-z-]+)`/g)].map(
          ([, code = ""]) => ({ status, code }),
        ),
    );
    const answered = errorCodes
      .map((code) => [code, statusOfCode(code)] as const)
      .filter(([, status]) => status !== 500);
    expect(documented.map(({ code }) => code).sort()).toEqual(
      [...answered.map(([code]) => code), "internal"].sort(),
    );
    for (const [code, status] of answered)
      expect(documented.find((one) => one.code === code)?.status).toContain(
        String(status),
      );
  });
});

it("docs/storage.md has every path of the storage directory, and no other", () => {
  const namesIn = (value: object): string[] =>
    Object.values(value).flatMap((one: string | object) =>
      typeof one === "string" ? one.split("/").slice(2, 3) : namesIn(one),
    );
  const documented = firstCells(read("storage.md")).map((cell) =>
    cell.replace(/\/$/, ""),
  );
  expect(documented.sort()).toEqual(
    [...new Set(namesIn(layOutStore("/store")))].sort(),
  );
});

it("docs/audit.md has every field of a line, and every event", () => {
  const page = read("audit.md");
  expect([...firstCells(page)].sort()).toEqual([...auditFields, "at"].sort());
  const [, documented = ""] = /^Events: ([^.]*)\./ms.exec(page) ?? [];
  const named = [...documented.matchAll(/`([a-z-]+)`/g)].map(
    ([, name]) => name,
  );
  expect(named.sort()).toEqual([...auditEvents].sort());
});
