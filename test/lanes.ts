/** Tests that `npm run test:release -- NAME` runs, and the gate does not. */
export interface Group {
  /** Guarantee that is known only after it has run. */
  readonly holds: string;
  /** Programs on PATH without which a part of it is not tested. */
  readonly needs: readonly string[];
  readonly files: readonly string[];
  /** Measures: nothing else may run beside it. */
  readonly alone?: true;
}

/** Everything that needs other programs, minutes, a clock or chance. What no group names is in the gate. */
export const groups: Readonly<Record<string, Group>> = {
  clients: {
    holds: "terraform, tofu and the programs that use them behind the mirror",
    needs: ["terraform", "tofu", "terragrunt", "oras", "docker-registry"],
    files: ["test/acceptance/!(network-mirror|replicas).test.ts"],
  },
  replicas: {
    holds: "daemons and the model on a PostgreSQL, archives in a bucket",
    needs: ["postgres", "initdb"],
    files: [
      "test/acceptance/replicas.test.ts",
      "test/store/database/postgres.test.ts",
      "test/model/postgres-model.test.ts",
    ],
  },
  packages: {
    holds: "what is released: packages, image, manifests, units, the demo",
    needs: [
      ...["dpkg-deb", "lintian", "rpmbuild", "umoci", "runc"],
      ...["kustomize", "haproxy", "systemd-analyze"],
    ],
    files: [
      "test/packaging/!(alert-rules).test.ts",
      "test/{demo,pack,systemd}.test.ts",
      "test/server/service-notification.test.ts",
    ],
  },
  alerts: {
    holds: "the alert rules see what the daemon counts",
    needs: ["promtool"],
    files: ["test/packaging/alert-rules.test.ts"],
  },
  model: {
    holds: "the trust core in more and in fresh sequences",
    needs: [],
    files: ["test/model/model.test.ts"],
  },
  disks: {
    holds: "disks that are full or fail, other users, few descriptors",
    needs: ["strace", "mount", "prlimit"],
    files: [
      "test/store/{full-disk,durable-file}.test.ts",
      "test/server/http/few-descriptors.test.ts",
    ],
  },
  kills: {
    holds: "daemons and imports killed again and again leave nothing wrong",
    needs: [],
    files: [
      "test/store/killed.test.ts",
      "test/mirror/bundles/import-killed.test.ts",
      "test/soak.test.ts",
    ],
  },
  clocks: {
    holds: "limits of time: slow origins, slow clients, stopping, freshness",
    needs: [],
    files: [
      "test/server/{lifecycle,missing-documents}.test.ts",
      "test/server/http/slow-clients.test.ts",
      "test/server/requests/request-log.test.ts",
      "test/mirror/providers/failing-origin.test.ts",
      "test/origin/http/{http-client,resume}.test.ts",
      "test/origin/git/git-process.test.ts",
      "test/telemetry/{logger,live-numbers}.test.ts",
      "test/verification/archives/threads.test.ts",
    ],
  },
  long: {
    holds: "the same rules as in the gate, in more places and by more commands",
    needs: [],
    files: [
      "test/main/users-of-commands.test.ts",
      "test/commands/operate/doctor.test.ts",
      "test/commands/store/verify.test.ts",
      "test/commands/packages/prefetch-modules.test.ts",
      "test/mirror/cache/unknown-providers.test.ts",
      "test/mirror/upkeep/retention.test.ts",
      "test/mirror/modules/ages.test.ts",
      "test/server/unexpected-errors.test.ts",
      "test/server/protocols/every-url.test.ts",
    ],
  },
  measured: {
    holds: "bounds on time, processor time and memory",
    needs: [],
    files: ["test/**/*.measured.test.ts"],
    alone: true,
  },
};
