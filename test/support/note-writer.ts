/** Saves notes until it is killed, and prints the id of each one that was acknowledged: `note-writer.ts <file>`. */
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';

const path = process.argv[2] ?? '';
const storage = await createSqliteStorage({ path });
process.stdout.write('ready\n');
for (let count = 0; ; count += 1) {
  const saves = Array.from({ length: 1 + (count % 3) }, async (_, index) => {
    const content = `written by ${process.pid} number ${count} ${'padding '.repeat((count * 37) % 400)}`;
    const note = await storage.notes.save({
      title: `note ${count} ${index}`,
      content,
      tags: [`tag${count % 5}`, 'killed'],
      sourceUrls: ['https://example.org/'],
    });
    process.stdout.write(`${note.id}\n`);
  });
  await Promise.all(saves);
}
