import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, locked, recentObstacle, rememberObstacle } from './cached-install.ts';
import { aptProblem, hasDebianPackages, unpackPackages } from './debian-packages.ts';

/**
 * Unpacks PostgreSQL 17 with pgvector, and PgBouncer, from Debian's packages into a folder that later runs reuse
 * (`CARREL_POSTGRES_ROOT`). The system stays unchanged, and no privileges are needed. The first time takes about ten seconds,
 * a 60 MB download and 150 MB of disk. Returns the reason as a string if it fails.
 */
export function installPostgres(root: string): string | undefined {
  if (isInstalled(root)) return undefined;
  const platform = platforms[process.arch];
  if (platform === undefined || !hasDebianPackages()) {
    return 'DATABASE_URL is not set, and tests can install PostgreSQL only on Debian (x64, arm64)';
  }
  try {
    mkdirSync(dirname(root), { recursive: true });
    return locked(`${root}.lock`, () => {
      if (isInstalled(root)) return undefined;
      return recentObstacle(root) ?? install(root, platform);
    });
  } catch (error) {
    return reasonOf(error);
  }
}

function install(root: string, platform: Platform): string | undefined {
  const partialRoot = `${root}.unfinished`;
  try {
    rmSync(partialRoot, { recursive: true, force: true });
    unpackPackages(
      {
        sources: [`http://deb.debian.org/debian trixie main`],
        packages: ['postgresql-17', 'postgresql-17-pgvector', 'pgbouncer'],
      },
      join(partialRoot, 'apt'),
      partialRoot,
      (name) => includedPackages.test(name) && !excludedPackages.test(name),
    );
    rmSync(join(partialRoot, 'apt'), { recursive: true });
    for (const program of [`${binaries}/postgres`, `${binaries}/initdb`, pgbouncer]) {
      wrap(join(partialRoot, program), program, platform);
    }
    // The JIT compiler needs LLVM, which was not unpacked because it is larger than everything else.
    rmSync(join(partialRoot, 'usr/lib/postgresql/17/lib/llvmjit.so'));
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    renameSync(partialRoot, root);
    return undefined;
  } catch (error) {
    return rememberObstacle(root, reasonOf(error));
  }
}

/** Returns the installation folder. The server's user, which is never root, must be able to read it. */
export function postgresRoot(): string {
  return process.env['CARREL_POSTGRES_ROOT'] || cacheFolder('postgres-17-pgbouncer');
}

export const binaries = 'usr/lib/postgresql/17/bin';
export const pgbouncer = 'usr/sbin/pgbouncer';

interface Platform {
  readonly libraries: string;
  readonly loader: string;
}

const platforms: Partial<Record<string, Platform>> = {
  x64: { libraries: 'usr/lib/x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { libraries: 'usr/lib/aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

/** True if the installation is complete. Only then does the folder get its final name. */
function isInstalled(root: string): boolean {
  return existsSync(join(root, binaries, 'postgres.bin'));
}

/** Packages to unpack: the server and its libraries, without LLVM and packages that only Debian's scripts need. */
const includedPackages = /^(postgresql-17|pgbouncer|lib|zlib1g|tzdata)/;
const excludedPackages = /^(libllvm|libz3|libperl|libc-l10n|lib.*-perl$)/;

/**
 * Replaces a program by a script that runs it with the C library of its packages, which may be newer than the machine's.
 * `initdb` starts `postgres` from its own folder, so both are replaced.
 */
function wrap(program: string, name: string, platform: Platform): void {
  renameSync(program, `${program}.bin`);
  const script = `#!/bin/sh
root=\${0%/${name}}
export LOCPATH="$root/usr/lib/locale"
libraries="$root/${platform.libraries}"
exec "$libraries/${platform.loader}" --library-path "$libraries" --argv0 "$0" "$0.bin" "$@"
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
}

function reasonOf(error: unknown): string {
  return `DATABASE_URL is not set, and PostgreSQL can't be installed: ${aptProblem(error)}`;
}
