import { readFile } from "node:fs/promises";
import { beforeEach } from "vitest";
import { loadSelfSigned } from "../../../src/server/tls/certificate-source.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { scratch } from "../../running-mirror.ts";

/** Places of certificates, other ones for each test. */
export function makeAnew() {
  let { tls } = layOutStore(scratch("tls"));
  beforeEach(() => void ({ tls } = layOutStore(scratch("tls"))));
  const read = () =>
    Promise.all(
      [tls.authority, tls.certificate].map((path) =>
        readFile(path, "utf8").catch(() => undefined),
      ),
    );
  return {
    paths: () => tls,
    /** What another start makes again, by the files before and after it. */
    remake: async (given: readonly string[], at: Date) => {
      const [authority, leaf] = await read();
      await loadSelfSigned(tls, given, at);
      const [newAuthority, newLeaf] = await read();
      if (authority !== newAuthority) return "ca-and-leaf";
      return leaf === newLeaf ? "nothing" : "leaf";
    },
  };
}
