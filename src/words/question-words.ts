import { fold } from './fold.ts';

/** Includes parts of contractions ("don", "ll"), but no German and similar words: "die" and "war" have meanings in English. */
const english = `a about after all also am an and any are as at be because been before being both but by can could did do does doing
   don for from had has have having he her here hers him his how i if in into is it its itself just ll me might more most
   my myself no nor not of off on once only or other our ours out over own re s same she should so some such t than that
   the their theirs them then there these they this those through to too under until up ve very was we were what when
   where which while who whom whose why will with would you your yours d m`;

const thai = `ที่ ของ ใน และ เป็น ได้ มี การ ความ จาก กับ ให้ ว่า โดย อะไร ใคร ไหน ใด เมื่อ เท่า ไร เท่าไร เท่าใด อย่างไร ทำไม กี่
   คือ นี้ นั้น ซึ่ง หรือ ไม่ ถูก แก่ ต่อ อยู่ ไป มา จะ แล้ว ก็ กว่า ด้วย เพื่อ ตาม บ้าง หรือไม่ เพราะ เหตุ เหตุใด ผู้ ทั้ง อื่น
   ตัว ที่ไหน เมื่อไร เมื่อไหร่ อัน ทำ แห่ง ยังไง พวก เขา`;

/** Function words and question words, folded. A query ignores them unless it has no other words. */
export const questionWords: ReadonlySet<string> = new Set(`${english} ${thai}`.split(/\s+/).map(fold));
