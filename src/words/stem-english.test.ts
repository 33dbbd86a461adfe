import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stemEnglish } from './stem-english.ts';

// Pairs from Porter's paper, one or more for each step.
const examples: Record<string, string> = {
  caresses: 'caress',
  ponies: 'poni',
  cats: 'cat',
  feed: 'feed',
  agreed: 'agre',
  plastered: 'plaster',
  bled: 'bled',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  troubling: 'troubl',
  sized: 'size',
  hopping: 'hop',
  falling: 'fall',
  filing: 'file',
  happy: 'happi',
  sky: 'sky',
  relational: 'relat',
  conditional: 'condit',
  rational: 'ration',
  digitizer: 'digit',
  vietnamization: 'vietnam',
  hopefulness: 'hope',
  sensibiliti: 'sensibl',
  triplicate: 'triplic',
  formative: 'form',
  electrical: 'electr',
  goodness: 'good',
  revival: 'reviv',
  allowance: 'allow',
  adjustment: 'adjust',
  dependent: 'depend',
  adoption: 'adopt',
  communism: 'commun',
  effective: 'effect',
  probate: 'probat',
  rate: 'rate',
  cease: 'ceas',
  controll: 'control',
  roll: 'roll',
  generalizations: 'gener',
  oscillators: 'oscil',
  yes: 'ye',
  as: 'as',
};

for (const [word, stem] of Object.entries(examples)) {
  test(`${word} has the stem ${stem}`, () => assert.equal(stemEnglish(word), stem));
}
