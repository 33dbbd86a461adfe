import { engineSlices, openEngine } from '../../app/open-engine.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { serveRole } from '../../app/roles.ts';
import { createSharedParts } from '../../app/shared-parts.ts';
import { tagsToMatch } from '../../toolsets/kb/collections.ts';
import { showDocument } from '../../toolsets/kb/shapes.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';
import type { Column } from '../terminal/table.ts';
import { listFlag, numberFlag, textFlag } from './ask.ts';
import { tellMore } from './lists.ts';
import { tellPlace } from './place.ts';
import { date, list, path, show } from './show.ts';

const limitDefault = 50;

/** `carrel list`: the documents of the knowledge base, newest first. */
export async function listCommand(line: CommandLine): Promise<void> {
  const request = {
    tags: tagsToMatch({ collection: textFlag(line, 'collection'), tags: [...(listFlag(line, 'tag') ?? [])] }),
    type: textFlag(line, 'type'),
    limit: numberFlag(line, 'limit') ?? limitDefault,
    offset: numberFlag(line, 'offset') ?? 0,
  };
  const config = loadRoleConfig({ ...serveRole, slices: engineSlices }, line.flags);
  const engine = await openEngine({ config, log: logOf(line), shared: createSharedParts(config) });
  try {
    tellPlace(config, 'kb');
    const { documents, total } = await engine.documents(request);
    const shown = documents.map(showDocument);
    const rows = shown.map((each) => [
      String(each.document_id),
      each.title,
      each.doc_type,
      each.collection ?? '',
      list(each.tags),
      path(each.source_path),
      date(each.created_at),
    ]);
    show(line, { documents: shown, total }, columns, rows, 'no documents');
    tellMore(shown.length, total);
  } finally {
    await engine.close();
  }
}

const columns: Column[] = [
  { title: 'ID', align: 'right' },
  { title: 'TITLE', share: 3 },
  { title: 'TYPE' },
  { title: 'COLLECTION', share: 1 },
  { title: 'TAGS', share: 1 },
  { title: 'PATH', share: 3, kept: 'end' },
  { title: 'ADDED' },
];
