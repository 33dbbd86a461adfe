/**
 * Returns the programming language of a text: by its file name or extension, else by its first line. Undefined if it is not
 * recognised as source code.
 */
export function codeLanguageOf(name: string | undefined, start: string): string | undefined {
  const file = fileName(name).toLowerCase();
  const language = byName.get(file) ?? byEnding.get(endingOf(file));
  if (language !== undefined) return language;
  const program = /^#!\s*\S*?\/?(?:env\s+(?:-S\s+)?)?([\w.+-]+)(?:\s|$)/.exec(start.slice(0, 200))?.[1];
  if (program !== undefined) return byProgram.get(program.replace(/[\d.]+$/, '')) ?? 'shell';
  return start.startsWith('<?php') ? 'php' : undefined;
}

/** Returns the programming language of a media type, such as `text/x-python`. */
export function codeLanguageOfType(type: string): string | undefined {
  const name = /^(?:text|application)\/(?:x-)?(.+?)(?:-src|-source)?$/.exec(type)?.[1] ?? '';
  return byType.get(name);
}

/** Returns the part of a path or URL after the last slash, without query and fragment. */
export function fileName(name = ''): string {
  const path = name.replace(/[?#].*$/s, '');
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

export function endingOf(file: string): string {
  const dot = file.lastIndexOf('.');
  return dot === -1 ? '' : file.slice(dot + 1).toLowerCase();
}

const byEnding = table(
  `ada adb ads; assembly asm s; bash bash; batch bat cmd; c c h; c# cs csx; c++ cpp cc cxx hpp hh hxx ipp inl; clojure clj cljs cljc edn;
  cmake cmake; coffeescript coffee; css css; cuda cu cuh; d d; dart dart; diff diff patch; elixir ex exs; elm elm; erlang erl hrl;
  f# fs fsi fsx; fortran f90 f95 f03 f; go go; graphql graphql gql; groovy groovy gradle; haskell hs lhs; hcl hcl tf tfvars; ini ini cfg conf properties;
  java java; javascript js mjs cjs jsx; julia jl; kotlin kt kts; less less; lisp lisp lsp cl el scm rkt; lua lua; makefile mk mak;
  nim nim; nix nix; objective-c m mm; ocaml ml mli; pascal pas pp dpr; perl pl pm t; php php phtml; powershell ps1 psm1 psd1; protobuf proto;
  python py pyi pyw pyx; r r; ruby rb rake gemspec; rust rs; sass sass; scala scala sc; scss scss; shell sh zsh ksh fish;
  solidity sol; sql sql ddl; svelte svelte; swift swift; tcl tcl; toml toml; typescript ts mts cts tsx; v v; vb vb vbs bas; verilog sv svh;
  vhdl vhd vhdl; vue vue; wgsl wgsl; zig zig`,
);

const byName = table(
  'dockerfile dockerfile containerfile; makefile makefile gnumakefile; cmake cmakelists.txt; ruby gemfile rakefile vagrantfile; groovy jenkinsfile; python sconstruct; shell .bashrc .zshrc .profile',
);

const byProgram = table(
  'shell sh bash zsh dash ksh fish; python python pypy; javascript node deno bun; typescript tsx ts-node; ruby ruby; perl perl; php php; lua lua; r Rscript; awk awk gawk; tcl tclsh; make make; groovy groovy; swift swift',
);

const byType = table(
  'javascript javascript ecmascript; typescript typescript; python python; shell sh shellscript csh; php php httpd-php; perl perl; ruby ruby; sql sql; graphql graphql; css css; c c csrc chdr; c++ c++ c++src c++hdr; java java java-source; go go; rust rust rustsrc; toml toml; lua lua; kotlin kotlin; scala scala; swift swift; c# csharp',
);

function table(rows: string): Map<string, string> {
  const languages = rows.split(';').map((row): [string, string] => {
    const [language = '', ...names] = row.trim().split(/\s+/);
    return [language, names.join(' ')];
  });
  return invert(Object.fromEntries(languages));
}

/** Maps each word of the values to its key. */
export function invert<Key extends string>(words: Partial<Record<Key, string>>): Map<string, Key> {
  const entries = Object.entries<string>(words as Record<Key, string>);
  return new Map(entries.flatMap(([key, list]) => list.split(' ').map((word): [string, Key] => [word, key as Key])));
}
