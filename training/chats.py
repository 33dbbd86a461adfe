"""Generates chats from templates: two people mention facts in passing, and each question is answered by one turn.

The chats teach what the few written examples can't: which person a fact is about, that "when" asks for a time and "where" for a
place, and that a question and its answer may share no word except a name.
"""

import random

from data import SEED, Collection

NAMES = """Amara Bjorn Carla Dmitri Elena Farid Greta Hiro Imani Joel Katya Liam Mina Nadia Omar Priya Quentin Rosa Samir Tessa Umar Vera
Wes Xenia Yusuf Zoe Anton Bella Cyrus Daria Emil Fiona Gus Hanna Ivan Jade Kofi Lena Marco Nora Otto Petra Rafael Sofia Theo Ursula
Victor Wanda Ximena Yara Alice Ben Claire David Emma Frank Grace Henry Isla Jack Kate Lucas Maria Nick Olivia Paul Rachel Steve Tina""".split()
SLOTS = {
    "pet": "kitten|puppy|rabbit|parrot|tortoise|greyhound|beagle|tabby cat|hamster|guinea pig|rescue dog|cockatiel",
    "petname": "Biscuit|Luna|Pepper|Waffles|Shadow|Ziggy|Mochi|Olive|Rocket|Pumpkin|Maple|Tofu|Bandit|Clover",
    "when": "last week|yesterday|two weeks ago|last Friday|on Saturday|a month ago|last summer|in March|back in 2019|this morning|the other day|over the holidays|on my birthday|at the end of May|three years ago|last night",
    "soon": "next month|in two weeks|next Tuesday|this weekend|in September|tomorrow|next spring|on the 14th|after the holidays|next year",
    "city": "Lisbon|Kyoto|Denver|Nairobi|Oslo|Montreal|Seville|Glasgow|Austin|Prague|Lima|Hanoi|Tallinn|Perth|Bologna|Chicago|Marrakesh|Reykjavik",
    "country": "Portugal|Japan|Kenya|Norway|Peru|Vietnam|Iceland|Morocco|New Zealand|Greece|Chile|Ireland|Croatia|Jordan",
    "food": "lasagna|ramen|dumplings|paella|a lemon tart|sourdough|vegetable curry|tacos|pierogi|banana bread|a mushroom risotto|kimchi|apple pie|falafel",
    "hobby": "pottery|rock climbing|watercolor painting|chess|birdwatching|salsa dancing|knitting|surfing|woodworking|archery|calligraphy|trail running|yoga|beekeeping|stand-up comedy|kayaking|photography",
    "instrument": "the violin|the guitar|the piano|the drums|the cello|the ukulele|the saxophone|the flute|the accordion",
    "job": "nurse|architect|barista|software engineer|librarian|electrician|graphic designer|high school teacher|paramedic|chef|journalist|physiotherapist|accountant|vet|translator",
    "employer": "a small publishing house|the city hospital|a robotics startup|the museum|a bakery downtown|a shipping company|the national park|an animal shelter|a bank|the public library",
    "relative": "sister|brother|mom|dad|grandmother|grandfather|cousin|aunt|uncle|niece|nephew|daughter|son|husband|wife|roommate|neighbour",
    "book": "a biography of Marie Curie|\"The Overstory\"|a history of salt|\"Dune\"|a novel about lighthouse keepers|\"Educated\"|a poetry collection by Mary Oliver|\"The Martian\"|a book on stoicism|\"Beloved\"",
    "film": "a documentary about octopuses|\"Parasite\"|an old Hitchcock film|\"Spirited Away\"|a French comedy|\"The Godfather\"|a slow Finnish drama|\"Interstellar\"",
    "injury": "sprained my ankle|broke my wrist|pulled a muscle in my back|twisted my knee|cut my thumb|chipped a tooth|got a concussion",
    "cause": "playing football|falling off a ladder|on an icy pavement|while hiking|moving the sofa|chasing the bus|during practice|opening a tin",
    "allergy": "peanuts|shellfish|cats|pollen|gluten|penicillin|bee stings|walnuts|latex|strawberries",
    "color": "dark green|mustard yellow|sky blue|terracotta|lavender|charcoal grey|coral|off-white",
    "room": "kitchen|bedroom|living room|study|hallway|nursery|bathroom",
    "amount": "300 dollars|$45|1,200 euros|about 80 pounds|two thousand dollars|15 bucks|$650|nearly 400 euros",
    "car": "an old Volvo|a red pickup|an electric Fiat|a second-hand Corolla|a camper van|a motorbike|a cargo bike",
    "subject": "marine biology|law|nursing|economics|art history|computer science|Spanish|civil engineering|psychology|philosophy",
    "cause2": "the food bank|a homeless shelter|the beach clean-up|an animal rescue|a reading club for kids|the community garden|the blood drive|a refugee centre",
    "plant": "tomatoes|sunflowers|lavender|basil|strawberries|roses|chilies|pumpkins|a lemon tree",
    "event": "marathon|half marathon|triathlon|open mic night|chess tournament|art exhibition|dance recital|science fair|charity auction|book launch|pottery sale",
    "place": "the old harbour|a cabin by the lake|the botanical garden|the night market|a tiny jazz bar|the planetarium|the national park|a castle on the hill|the aquarium|a farm outside town",
    "fear": "heights|public speaking|spiders|flying|deep water|the dark|needles|elevators",
    "music": "Nina Simone|heavy metal|bossa nova|Bach|old country songs|K-pop|Fela Kuti|lo-fi beats|Fleetwood Mac|flamenco",
    "gift": "a vintage camera|a hand-knitted scarf|concert tickets|a telescope|a cast iron pan|a signed poster|a silver necklace|a board game|a fountain pen|hiking boots",
    "tool": "Postgres|Redis|Kubernetes|Terraform|SQLite|Kafka|Nginx|GitHub Actions|Ansible|RabbitMQ|Elasticsearch",
    "tool2": "MySQL|Memcached|Nomad|Pulumi|DuckDB|NATS|Caddy|Jenkins|Puppet|SQS|Solr",
    "part": "the login page|the billing service|the search index|the import job|the mobile app|the report export|the webhook worker|the admin panel|the image resizer",
    "fault": "a race condition|an expired certificate|a missing index|a full disk|a wrong time zone|a memory leak|a typo in the config|a stale cache|an off-by-one error",
    "version": "2.4.1|3.0|1.18|0.9.7|5.2|4.11.3",
    "time": "9 am|half past six|noon|around 4 pm|7:30 in the morning|late in the evening|8 pm",
    "port": "8443|5433|3001|9090|27018|6380",
    "weekday": "Mondays|Tuesdays|Wednesdays|Thursdays|Fridays|Sundays",
    "number": "three|four|twelve|twenty|seven|about fifty|nine|a dozen",
}
SLOTS = {name: values.split("|") for name, values in SLOTS.items()}
# Ways to state a fact ⇒ questions about it. {S} is the speaker, {O} the other person.
FACTS = """
I adopted a {pet} {when}, we named it {petname}. / We brought a {pet} home {when}! {petname} already rules the house. / Meet {petname}, the {pet} I got {when}. ⇒ What is {S}'s pet called? / What kind of animal does {S} have? / When did {S} get a new pet? / Who is {petname}?
I'm flying to {city} {soon} to see my {relative}. / Booked it: {city}, {soon}, with my {relative}. / My {relative} and I have tickets to {city} for {soon}. ⇒ Where is {S} travelling? / Who is {S} going to {city} with? / When does {S} leave for {city}? / What trip has {S} planned?
I spent a week in {country} {when} and I still dream of the coast. / We were in {country} {when}, best holiday in ages. / Just back from {country}, we went {when} and walked everywhere. ⇒ Which country did {S} visit? / When was {S} abroad? / Where did {S} go on holiday?
I moved to {city} {when} because of work. / We left for {city} {when}, the rent was killing us. / I've been living in {city} since I moved here {when}. ⇒ Where does {S} live now? / When did {S} move? / Why did {S} relocate?
I grew up in {country} and only came here for university. / My family is from {country} originally. / Born and raised in {country}, you can still hear it when I'm tired. ⇒ Where is {S} from? / What is {S}'s home country? / Where did {S} spend their childhood?
I made {food} {when} and it turned out great. / You should have seen the {food} I cooked {when}. / Tried my hand at {food} {when}; the smoke alarm only went off once. ⇒ What did {S} cook? / What has {S} been making in the kitchen? / When did {S} prepare {food}?
My {relative} taught me how to make {food}. / It's my {relative}'s recipe, that {food}. / Nobody makes {food} like my {relative}, so I learned from the best. ⇒ Who taught {S} to cook? / From whom does {S} have the recipe? / What dish does {S}'s {relative} make?
I've taken up {hobby}, started {when}. / Guess who signed up for {hobby} {when}? Me. / {hobby} is my new thing, first class was {when}. ⇒ What new hobby does {S} have? / When did {S} start {hobby}? / What does {S} do in their free time?
I gave up {hobby}, my shoulder couldn't take it. / No more {hobby} for me, there's just no time. / I stopped doing {hobby} {when}. ⇒ Which hobby did {S} quit? / Does {S} still do {hobby}? / Why did {S} stop {hobby}?
I've been learning {instrument} for {number} months. / My lessons on {instrument} are going slowly, {number} months in. / I play {instrument} in a little band on {weekday}. ⇒ What instrument does {S} play? / Is {S} musical? / How long has {S} been learning {instrument}?
I got the job! I start as a {job} at {employer} {soon}. / They hired me: {job} at {employer}. / From {soon} on I'll be working as a {job} for {employer}. ⇒ What is {S}'s new job? / Where will {S} work? / When does {S} begin the new position? / What does {S} do for a living?
I quit my job at {employer} {when}. / I handed in my notice {when}, {employer} wasn't for me any more. / Well, I no longer work at {employer}. ⇒ Why did {S} leave work? / Where did {S} use to work? / When did {S} resign?
I was promoted {when}, I lead a team of {number} now. / They made me head of a team of {number} {when}! / Big news from work: promotion, and {number} people reporting to me. ⇒ How many people does {S} manage? / When did {S} get promoted? / What good news did {S} have about their career?
I {injury} {cause}. / Don't laugh, I {injury} {cause} {when}. / So I {injury}, of course {cause}. ⇒ How did {S} get hurt? / What injury did {S} have? / What happened to {S} {cause}?
I can't eat that, I'm allergic to {allergy}. / Turns out I'm allergic to {allergy}, the doctor confirmed it {when}. / Please no {allergy} for me, my throat swells up. ⇒ What is {S} allergic to? / What should {S} avoid? / Which health problem does {S} have?
I'm reading {book} right now, can't put it down. / Finished {book} {when} and cried on the train. / My {relative} gave me {book} and I read it in two days. ⇒ What book has {S} been reading? / What did {S} read recently? / Which book would {S} recommend?
We saw {film} {when}, I loved it. / {film} was on {when}, what an ending! / My {relative} dragged me to see {film} {when}. ⇒ What film did {S} watch? / Which movie did {S} like? / When did {S} go to the cinema?
We painted the {room} {color} {when}. / The {room} is {color} now and I can't stop looking at it. / I finally redid the {room}: {color} walls, new lamp. ⇒ What colour is {S}'s {room}? / Which room did {S} redecorate? / What renovation did {S} do at home?
I bought {car} {when} for {amount}. / Meet my new ride, {car}; paid {amount}. / After months of looking I got {car} for {amount}. ⇒ What vehicle did {S} buy? / How much did {S} pay for {car}? / How does {S} get around?
I'm studying {subject} in the evenings. / I enrolled in {subject} {when}, at my age! / My degree was in {subject}, believe it or not. ⇒ What does {S} study? / What is {S}'s degree in? / Which course did {S} enrol in?
My {relative} is getting married {soon} in {city}. / Wedding season: my {relative}, {city}, {soon}. / I have to write a speech for my {relative}'s wedding {soon}. ⇒ Whose wedding is {S} going to? / When is the wedding in {S}'s family? / Where does {S}'s {relative} get married?
My {relative} had a baby {when}, a girl named {petname}. / I'm an honorary aunt: my {relative}'s baby arrived {when}. / There's a new tiny human in the family, my {relative}'s, born {when}. ⇒ Who in {S}'s family had a baby? / When was the child born? / What is the baby's name?
My {relative} is in hospital since {when}, it's the heart. / They operated on my {relative} {when}, all went fine. / I've been at the hospital with my {relative} a lot. ⇒ Who in {S}'s family is ill? / How is {S}'s {relative}? / Why was {S} at the hospital?
My {relative} died {when}. I still reach for the phone to call. / We buried my {relative} {when}. / I lost my {relative} {when} and it comes in waves. ⇒ Who did {S} lose? / When did {S}'s {relative} pass away? / What is {S} grieving about?
I volunteer at {cause2} on {weekday}. / {weekday} I help out at {cause2}, it keeps me sane. / I spent Saturday at {cause2} again. ⇒ What volunteer work does {S} do? / How does {S} help the community? / When does {S} volunteer?
I planted {plant} {when}. / The {plant} on my balcony finally came up. / My garden is a jungle, the {plant} won. ⇒ What does {S} grow? / What is in {S}'s garden? / When did {S} plant {plant}?
I signed up for the {event} {soon}. / The {event} is {soon} and I'm not ready at all. / Training for the {event}, it's {soon}. ⇒ What event will {S} take part in? / When is the {event}? / What is {S} preparing for?
I came second in the {event} {when}! / I won the {event} {when}, I still can't believe it. / The {event} {when} went better than I hoped, I placed third. ⇒ How did {S} do at the {event}? / What did {S} win? / What competition was {S} in?
We went to {place} {when}, so peaceful. / I took my {relative} to {place} {when}. / {place} was wonderful {when}, you'd like it. ⇒ Where did {S} go with their {relative}? / What place did {S} visit recently? / When was {S} at {place}?
I'm scared of {fear}, always have been. / I have this thing about {fear}. / You won't get me there, {fear} make me panic. ⇒ What is {S} afraid of? / Which fear does {S} have? / What makes {S} panic?
I've been listening to {music} all week. / Nothing calms me like {music}. / I have {music} on while I work. ⇒ What music does {S} like? / What does {S} listen to? / How does {S} relax?
For my birthday my {relative} gave me {gift}. / I got {gift} from my {relative} {when}. / Look at this, {gift}, from my {relative}! ⇒ What present did {S} get? / Who gave {S} {gift}? / What did {S}'s {relative} give them?
I want to open a little shop one day, with {food} and books. / My dream is to run a place that sells {food}. / If I had money I'd start a café with {food}. ⇒ What is {S}'s dream? / What business would {S} like to start? / What does {S} want to do in future?
I get up at {time} now and go running. / My day starts at {time}, no exceptions. / Since {when} I go swimming at {time}. ⇒ When does {S} get up? / What is {S}'s morning routine? / How does {S} stay fit?
My bike was stolen {when} outside the station. / Somebody took my bike {when}; the police shrugged. / I filed a report for my stolen bike {when}. ⇒ What was stolen from {S}? / When was the theft? / Why did {S} go to the police?
I lost my wallet at {place} {when}, with {amount} in it. / {amount} gone, I left my wallet at {place}. / My wallet is somewhere at {place}, I'm sure. ⇒ What did {S} lose? / Where did {S} leave the wallet? / How much money was in it?
I'm vegetarian since {when}. / I stopped eating meat {when}. / No meat for me, {number} years now. ⇒ What diet does {S} follow? / Does {S} eat meat? / When did {S} become vegetarian?
I see a therapist on {weekday}, it helps. / Therapy every week, best decision I made {when}. / I started seeing someone about the anxiety {when}. ⇒ How does {S} take care of their mental health? / When does {S} go to therapy? / What helps {S} with anxiety?
Rent goes up to {amount} {soon}. / The landlord wants {amount} more from {soon}. / We pay {amount} for two rooms, madness. ⇒ How much is {S}'s rent? / When does the rent rise? / What did the landlord say?
I speak {number} languages, the last one I learned was Turkish. / I'm learning Italian for the trip to {city}. / My {relative} and I only speak Polish at home. ⇒ Which languages does {S} speak? / What language is {S} learning? / What do they speak at home?
I met my partner at {place} {when}. / We met {when} at {place}, we were both late. / It started at {place}; I spilled coffee on them. ⇒ How did {S} meet their partner? / Where did they first meet? / When did the relationship begin?
We broke up {when}. / I'm single again since {when}, it was time. / It's over between us, since {when}. ⇒ What is {S}'s relationship status? / When did {S} split up? / Is {S} still with their partner?
Decision: we use {tool} instead of {tool2} for {part}. / We agreed to go with {tool}; {tool2} is out. / {part} moves from {tool2} to {tool} {soon}. ⇒ What did we decide about {tool2}? / Which technology do we use for {part}? / Why not {tool2}? / When does {part} switch to {tool}?
The outage of {part} came from {fault}. / Found it: {fault} in {part}. / {part} was down {when} because of {fault}. ⇒ What caused the incident with {part}? / Why was {part} down? / What was the root cause? / Where was {fault}?
Deployed {version} of {part} {when}. / {part} is on {version} since {when}. / Rolled {part} back to {version}, the new one broke {tool}. ⇒ Which version of {part} is running? / When was {part} deployed? / What was rolled back?
{tool} on staging listens on port {port}. / Note: port {port} is {tool}, don't reuse it. / I moved {tool} to {port}, 80 was taken. ⇒ Which port does {tool} use? / Where can I reach {tool}? / What runs on {port}?
Please never deploy {part} on {weekday}. / No releases of {part} on {weekday}, support is thin then. / Rule: {part} ships any day but {weekday}. ⇒ When must we not deploy? / On which days are releases of {part} forbidden? / What is the rule for shipping {part}?
I prefer short answers without lists, please remember that. / Keep answers brief, no bullet points. / Don't send me walls of text. ⇒ How does {S} like answers to be written? / What style does {S} prefer? / Which preference did {S} state?
The meeting with the client is {soon} at {time}. / Client call moved to {soon}, {time}. / They can only do {soon} at {time}. ⇒ When is the client meeting? / What time is the call? / Did the appointment change?
The budget for {part} is {amount}. / We got {amount} approved for {part}. / Finance gave us {amount} for {part}, not more. ⇒ How much money do we have for {part}? / What did finance approve? / What is the budget?
{part} needs {tool} {version} or newer. / It only works with {tool} {version}. / With {tool} below {version} {part} crashes at start. ⇒ Which version of {tool} is required? / What are the requirements of {part}? / Why does {part} crash at start?
My flight is at {time} {soon}, terminal {number}. / I leave {soon} at {time}, don't forget to water the {plant}. / Taking the train at {time} {soon}. ⇒ When does {S} leave? / What time is {S}'s departure? / What should {O} not forget?
The doctor said to take it easy for {number} weeks. / Got my results {when}: low iron. / My check-up {when} was fine, except for blood pressure. ⇒ What did the doctor tell {S}? / What were {S}'s test results? / How long must {S} rest?
I have {number} houseplants and they all have names. / We have {number} kids between us. / I own {number} bikes, I know, I know. ⇒ How many plants does {S} have? / How many does {S} own? / What does {S} have many of?
My {relative} works as a {job} in {city}. / My {relative} just became a {job}. / You know my {relative}, the {job}? Visiting {soon}. ⇒ What does {S}'s {relative} do? / What is the profession of {S}'s {relative}? / Which relative of {S} is a {job}?
"""
REPLIES = """That's wonderful, I'm so happy for you! / Oh no, I'm sorry to hear that. / Wow, really? Tell me more. / Haha, classic you. / How did that come about? / I had no idea! / That sounds great, {O}. / Makes sense to me. / How do you feel about it? / Nice! Do you have a picture? / I'd love to hear more about it some time. / That must have been hard. / Good for you, you deserve it. / Hm, I never thought of it that way. / Is that so? My week was nothing like it. / Thanks for telling me, {O}. / Noted, thanks. / Fair enough. / Take care of yourself, okay? / I'm proud of you. / What made you choose that? / Totally agree. / Let me know how it goes. / Fingers crossed! / Who would have thought. / I know the feeling. / Same here, to be honest. / Let's catch up properly soon. / Sounds like a plan. / Okay, will do."""
REPLIES = [each.strip() for each in REPLIES.split(" / ")]
OPENERS = ["", "", "", "", "Hey {O}! ", "Oh, by the way: ", "Hi {O}, long time no see. ", "So, news. ", "Guess what. ", "Good, thanks! ", "Yeah, true. ", "Not much new, except: ", "You know what, {O}? ", "Haha. Anyway, ", "Thanks, {O}! ", "I was going to tell you. "]
CLOSERS = ["", "", "", "", " How about you?", " What do you think?", " Anyway, how was your week?", " Crazy, right?", " Have you ever tried that?", " I'll keep you posted.", " It feels good to say it.", " Wish me luck."]


def facts():
    for line in FACTS.strip().splitlines():
        statements, questions = line.split(" ⇒ ")
        yield [each.strip() for each in statements.split(" / ")], [each.strip() for each in questions.split(" / ")]


def generate_chats(count):
    rng = random.Random(f"{SEED}/chats")
    fact_templates = list(facts())
    passages, groups, questions = [], [], []
    for number in range(count):
        group = f"made-{number}"
        people = rng.sample(NAMES, 2)
        for at in range(rng.randint(12, 26)):
            statements, fact_questions = rng.choice(fact_templates)
            speaker = rng.randrange(2)
            slots = {name: rng.choice(values) for name, values in SLOTS.items()}
            slots |= {"S": people[speaker], "O": people[1 - speaker]}
            text = rng.choice(statements)
            said = (rng.choice(OPENERS) + text + rng.choice(CLOSERS)).format(**slots)
            said = said[0].upper() + said[1:]
            passages.append(f"{people[speaker]}: {said}")
            groups.append(group)
            passage_number = len(passages) - 1
            fact_key = (group, statements[0], speaker)
            for question in rng.sample(fact_questions, min(len(fact_questions), 2)):
                questions.append((question.format(**slots), {passage_number: 1}, "train", group, fact_key))
            if rng.random() < 0.7:
                passages.append(f"{people[1 - speaker]}: {rng.choice(REPLIES).format(S=people[1 - speaker], O=people[speaker])}")
                groups.append(group)
    # If a chat states the same fact twice, both turns answer a question that fits both.
    answers = {}
    for question in questions:
        answers.setdefault((question[0], question[4][:2], question[3]), {}).update(question[1])
    merged = [(text, answers[(text, fact_key[:2], group)], split, group) for text, _, split, group, fact_key in questions]
    before = [at - 1 if at and groups[at - 1] == group else None for at, group in enumerate(groups)]
    return Collection("made", passages, groups, merged, before)


if __name__ == "__main__":
    collection = generate_chats(3)
    for text, relevant, *_ in collection.questions[:40]:
        print(text, "⇒", *(collection.passages[at] for at in relevant))
    print(len(generate_chats(1200).questions))
