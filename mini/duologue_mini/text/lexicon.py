"""Common English words by kind: nouns, verbs, adjectives, and names that go with "he" or "she"."""
# ruff: noqa: SIM905 (word lists read better as running text)

NOUNS = """acorn actor airport alarm album alley almond ankle answer apartment apple apron arch arrow artist
attic aunt autumn avenue baby bakery balcony balloon bamboo banana bandage banner barn barrel basement bath
battery beach beard bedroom beetle belief belt bench berry bicycle biscuit blanket blossom board bone border
bottom boulder bowl bracelet branch bread breakfast brick brother brush bucket building bulb bullet bundle
butter butterfly button cabbage cabin cactus cafe cage calendar canal canyon captain caravan cargo carpet
carrot cartoon castle cathedral cave ceiling cellar cement century cereal chain chalk champion channel chapter
cherry chest chicken chimney choir cinema circle circus citizen city clay cliff climate closet cloth clover
coach coast coconut coffee collar college comet compass computer concert cookie copper corner cottage cotton
couch country cousin cradle crane crayon cream creek crown crystal cucumber cup cupboard curtain cushion
customer dagger dance danger daughter dawn decision desert diamond diary dictionary dinner direction disk
dollar donkey door dragon drawer dream dress dust eagle earring earth east echo edge elbow elevator emerald
envelope evening event exit eye face factory family farmer feather festival field film finger fire fireplace
flame flashlight flood floor flour flute forest fortune fountain freedom friend fruit funnel furniture future
galaxy gallery garage garlic ghost giant ginger giraffe glacier glass globe goal grain grandmother granite
grape grass gravel guest hail hall hallway hamster handle harbour harp harvest hazel heart helmet herb
highway hill history holiday honey hook horizon hospital hotel hour hurricane ice idea igloo ink insect
instrument island jacket jam jar jewel jigsaw journal journey judge juice jungle jury kangaroo kettle keyboard
kingdom kitchen kitten knee knife knight knot label laboratory lake language lantern laundry lawyer leather
lemon lemonade lesson lettuce library lighthouse limit lion lobster luggage lunch machine magazine magnet
mailbox manager mango mansion marble market mask meadow meal medal melody memory message metal microphone
milk minister minute mist mitten moment money morning mosquito moss motor mouth movie muffin muscle museum
mushroom music mystery napkin neck neighbour network newspaper night noise north notebook number nurse nut
oak oasis ocean office onion opinion orchard orchestra oven owner oyster package paint palace palm pancake
parade parcel parent park parking parsley passage passport pasta patient pattern peach peacock peanut pearl
pebble pepper person phone picnic picture pigeon pilgrim pillar pilot pine pineapple pirate pistachio planet
plant plastic platform pleasure plum pocket poem police pond pony poster potato pottery powder present
printer prison problem project pudding pumpkin puppet puppy purse puzzle pyramid quarter queen question quiet
quilt rabbit raccoon radish raft railway rainbow raspberry reason recipe record refrigerator report rhythm
ribbon rice riddle robot rocket roof room root rug sailor salt sandal sandwich satellite saucer sausage saw
scarf school science scissors screen secret shadow shampoo shelf shell shelter shepherd shirt shop shoulder
shovel signal silk singer sister sketch skirt sky sleeve slipper smoke soap soldier song soup south spark
spice spinach sponge spring square stable stadium stage staircase stamp station statue steam stomach storm
story strawberry stream street student sugar suitcase summer sunflower surprise sweater sword syrup table
tailor teacher teapot telephone temple theatre thread throat thumb thunder tiger timber toast tomato
tongue tool tooth torch tower town tractor traffic trumpet tulip tunnel turnip turtle umbrella uncle
uniform universe valley vegetable vehicle velvet village vinegar violin visitor voice volcano voyage wagon
waiter walnut wardrobe water waterfall weather wedding week west whisper whistle winter wizard wood wool
word workshop world yacht yard year yogurt zipper""".split()

VERBS = """add allow answer arrive ask bake become begin believe borrow break bring build burn buy call carry
catch change choose clean climb close collect come cook count cover cross cry cut dance decide deliver draw
drink drive drop eat enjoy enter explain fall feed feel fetch fight fill find finish fix float fly fold follow
forget gather give glow greet grow guess hang happen hear help hide hold hope hunt hurry imagine improve invite
jump keep kick knit knock know laugh lead learn leave lend lift listen live look lose love make measure meet
melt mix move need notice offer open order pack paint park pass pause pay plan play point pour prefer prepare
press promise pull push read receive remember repair repeat reply rest return ride ring rise run save search
see sell send share shine shout show shut sing sit sketch sleep slide smell smile solve speak spend spin stand
start stay steal stop study swim take talk taste teach tell thank think throw tidy touch trade travel try turn
understand use visit wait wake walk want warn wash watch wave wear whisper win wish wonder work worry wrap
write yawn""".split()

QUALITIES = """able afraid alive ancient angry awake awful bitter blank blind boring brief broad broken careful
cheap clean clear common complete cool correct crooked crowded curly cute damp dangerous dead deep delicate
delicious different difficult dirty distant double dusty eager easy elegant empty enormous equal excellent
expensive faint fair familiar famous fancy fat fierce final fine firm flat foolish foreign fragile free fresh
friendly frozen full generous giant graceful grateful greedy green grey half hard harmless healthy helpful
high hollow hungry icy ideal important innocent interesting jolly large late lean left level local loose lovely
low mild modern muddy narrow neat nervous noisy normal odd open ordinary pale perfect plain pleasant polite
poor popular precious pretty private proper public pure rare raw ready real rich right ripe rotten rough rude
rusty sad safe salty secret serious shallow sharp shiny short sick simple single slim smart smooth sober solid
sorry sour spare special square steep sticky stiff straight sudden sure sweet swift tame tender thick thirsty
tidy tight tired total tough true ugly unusual upset useful usual vast violent visible weak wealthy weekly wet
whole wicked wise wooden worried wrong yearly""".split()

WOMEN = """Ada Aisha Alba Alice Amara Ana Anita Anna Astrid Bianca Carla Carmen Chloe Clara Cora Daria Dina Edith
Elena Ella Emma Esther Eva Fatima Fiona Freya Gina Grace Hana Hannah Helen Ida Ines Ingrid Iris Jane Jasmine
Julia Karen Kate Lara Laura Lea Lena Lily Linda Lisa Lucia Luna Maja Maria Marta Mary Maya Mia Mila Mina Mira
Nadia Nina Nora Olga Paula Petra Priya Rita Rosa Ruth Sara Sarah Selma Sofia Sophie Tara Tina Vera Yara Yuki
Zara Zoe Agnes Beatrix Camila Dorothea Eleni Farah Greta Henrietta Ilse Jolanda Katarina Leila Marguerite
Noemi Ottilie Pilar Rosalind Saskia Thandiwe Ulrike Valentina Wanda Xenia Ysolde""".split()

MEN = """Alan Ali Amir Anders Andre Arjun Ben Boris Carlos Daniel David Diego Emil Eric Felix Finn Frank George
Hans Harry Hassan Henry Hugo Ian Isaac Ivan Jack James Jan Jim Joe John Jonas Jose Karim Kemal Ken Lars Leo
Louis Lucas Marco Mark Mateo Max Michael Mohamed Nico Noah Oleg Oliver Omar Oscar Otto Pablo Paul Pedro Peter
Rafael Raj Robert Samir Sergei Simon Stefan Steve Sven Tariq Theo Thomas Tim Tom Victor Will Yusuf Albert
Balthazar Cedric Dmitri Edmund Florian Gustav Hendrik Ismail Joaquin Kofi Leopold Matthias Nikolai Olu Percy
Quentin Reinhold Santiago Tobias Ulrich Vincent Wolfgang Xavier Yannick Zoltan""".split()

SURNAMES = """Abbott Adeyemi Almeida Andersen Baker Banerjee Barros Becker Bennett Berg Bianchi Blake Borg Brandt
Carver Castro Chandra Cohen Conti Costa Dahl Delgado Dietrich Dubois Eriksen Farrow Ferreira Fischer Fontaine
Fraser Garcia Greene Gruber Haddad Hale Hansen Harper Hoffman Horvat Ibrahim Ivanov Jansen Jensen Kaya Keller
Kim Kovac Kowalski Kumar Lang Laurent Lindgren Lopez Marino Martin Mbeki Mehta Meyer Moreau Moretti Murphy
Nakamura Ngo Novak Okafor Olsen Ortiz Park Patel Pereira Petrov Quinn Ramos Reyes Rossi Ruiz Sato Schmidt
Silva Singh Sokolov Suzuki Tanaka Torres Vargas Vogel Wagner Walsh Weber Winter Wolf Yamada Yilmaz Zhang
Ziegler""".split()

OTHER_SCRIPTS = """Игорь Мария Светлана Дмитрий Олена 李娜 王伟 张敏 さくら 健太 ユキ 지민 서연 محمد ليلى سارة דוד נועה
Βασίλης Ελένη Łukasz Żaneta Małgorzata José Zoë Øyvind Åsa Søren Jürgen Çağla Şükrü François Renée Iñaki Nguyễn
Đorđe Tomáš Jiří Éva Lőrinc Ümit Аня Γιώργος राम सीता""".split()
