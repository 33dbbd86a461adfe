#!/usr/bin/env node
// This file must load on any Node version, because it reports that a version is too old.
var needed = [22, 16];
var found = process.versions.node.split('.').map(Number);
if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  process.stderr.write(
    'carrel: needs Node ' +
      needed.join('.') +
      ' or newer; this is Node ' +
      process.versions.node +
      '. Install a newer Node (nodejs.org, nvm or fnm: Debian and Ubuntu ship an older one) and try again.\n',
  );
  process.exitCode = 78;
} else {
  import('../dist/carrel.js').then((program) => program.run(process.argv.slice(2)));
}
