import { createRandom } from '../statistics.ts';

/** Generates a Markdown file with English-like word frequencies. The same `index` always gives the same file. */
export function createMarkdown(index: number, chunks: number): { name: string; content: Buffer } {
  const random = createRandom(index + 1);
  const sections = Array.from({ length: chunks }, (_, section) => {
    const sentences = Array.from({ length: 10 }, () => sentence(random));
    return `## Section ${section} of file ${index}\n\n${sentences.join(' ')}`;
  });
  return { name: `file-${index}.md`, content: Buffer.from(`# File ${index}\n\n${sections.join('\n\n')}\n`) };
}

export function queryWords(random: () => number): string {
  return [word(random), word(random), word(random)].join(' ');
}

const vocabularySize = 20_000;

function sentence(random: () => number): string {
  return `${Array.from({ length: 12 }, () => word(random)).join(' ')}.`;
}

/** Draws a word by Zipf's law: the hundred most frequent words make up nearly half of the text. */
function word(random: () => number): string {
  const rank = Math.floor(vocabularySize ** random());
  return (
    syllables[rank % 50] + (syllables[Math.floor(rank / 50) % 50] ?? '') + (syllables[Math.floor(rank / 2500)] ?? '')
  );
}

const syllables = [...'bdfgklmnpr'].flatMap((consonant) => [...'aeiou'].map((vowel) => consonant + vowel));
