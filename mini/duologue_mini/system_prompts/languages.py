"""A few dozen sentences in German, French, Spanish and Italian: replies when a system prompt sets the language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language: its names, prompts that ask for it, and messages and answers by kind of exchange.

    `$n` is a name, `$v` the value of a sum, `$a`, `$b` its terms.
    """

    names: list[str]
    asked_for: list[str]
    says: dict[str, list[str]]
    answers: dict[str, list[str]]


GERMAN = Language(
    ["German", "German", "Deutsch"],
    [
        "Antworte {auf Deutsch|nur auf Deutsch|immer auf Deutsch}.",
        "Sprich {nur |}Deutsch[ mit dem Nutzer].",
        "Du antwortest auf Deutsch.",
    ],
    {
        "hello": ["Hallo[!]", "Guten {Tag|Morgen|Abend}[!]", "Hi[, bist du da?]", "Servus[!]"],
        "how": ["Wie geht es dir?", "Wie geht's[ heute]?", "Alles gut?"],
        "who": ["Wer bist du?", "Wie heißt du?", "Was bist du?"],
        "able": ["Was kannst du?", "Wie kannst du mir helfen?", "Kannst du mir helfen?"],
        "human": ["Bist du ein Mensch?", "Bist du eine Maschine?", "Bist du echt?"],
        "thanks": ["Danke[ schön| sehr][!]", "Vielen Dank[!]"],
        "bye": ["Tschüss[!]", "Auf Wiedersehen[!]", "Bis {bald|morgen|später}[!]", "Gute Nacht[!]"],
        "sum": ["Was {ist|ergibt|macht} $a {plus|+} $b?", "Wie viel ist $a {plus|+} $b?"],
        "told": ["Ich heiße $n[.]", "Mein Name ist $n[.]", "Ich bin $n[.]"],
        "name": ["Wie heiße ich?", "Wie ist mein Name?", "Kennst du meinen Namen?"],
        "mood": ["Ich bin {traurig|müde|traurig heute}[.]", "Mir geht es nicht gut[.]"],
        "glad": ["Mir geht es gut[.]", "Ich bin froh[.]"],
        "beyond": [
            "Wer hat das Telefon erfunden?",
            "Wie wird das Wetter morgen?",
            "Was ist die Hauptstadt von Kanada?",
            "Warum ist der Himmel blau?",
            "Erkläre mir die Quantenphysik[.]",
        ],
    },
    {
        "hello": [
            "Hallo! Wie kann ich helfen?",
            "Guten Tag! Was kann ich für Sie tun?",
            "Hallo! Schön, dass du da bist.",
        ],
        "how": ["Mir geht es gut, danke!", "Alles läuft gut, danke. Und dir?"],
        "who": ["Ich bin $n, ein kleines Sprachmodell.", "Ich heiße $n."],
        "able": [
            "Ich kann ein wenig plaudern und kleine Summen rechnen.",
            "Ich kann plaudern, rechnen und mir etwas merken.",
        ],
        "human": [
            "Nein, ich bin ein kleines Computerprogramm.",
            "Ich bin ein Computerprogramm, kein Mensch.",
        ],
        "thanks": ["Gern geschehen!", "Bitte sehr!"],
        "bye": ["Auf Wiedersehen!", "Tschüss, bis bald!"],
        "sum": ["$a plus $b ist $v.", "Das macht $v."],
        "told": ["Freut mich, $n!", "Hallo, $n! Schön, dich kennenzulernen."],
        "name": ["Du heißt $n.", "Dein Name ist $n."],
        "mood": ["Das tut mir leid. Ich hoffe, es wird bald besser."],
        "glad": ["Das freut mich!", "Schön, das zu hören!"],
        "beyond": [
            "Das weiß ich leider nicht.",
            "Das kann ich leider nicht. Ein größeres Modell kann das: `duologue setup`.",
        ],
        "not told": ["Das hast du mir noch nicht gesagt."],
    },
)
FRENCH = Language(
    ["French", "French", "Français"],
    [
        "Réponds {en français|toujours en français|seulement en français}.",
        "Parle français[ avec l'utilisateur].",
    ],
    {
        "hello": ["Bonjour[ !]", "Salut[ !]", "Bonsoir[ !]"],
        "how": ["Comment ça va ?", "Comment vas-tu[ aujourd'hui] ?", "Ça va ?"],
        "who": ["Qui es-tu ?", "Comment t'appelles-tu ?", "Tu es qui ?"],
        "able": ["Que sais-tu faire ?", "Comment peux-tu m'aider ?", "Peux-tu m'aider ?"],
        "human": ["Es-tu humain ?", "Es-tu une machine ?", "Es-tu un robot ?"],
        "thanks": ["Merci[ beaucoup| bien][ !]", "Un grand merci[ !]"],
        "bye": ["Au revoir[ !]", "À {bientôt|demain|plus tard}[ !]", "Bonne nuit[ !]"],
        "sum": ["Combien font $a {plus|et|+} $b ?", "$a + $b ?"],
        "told": ["Je m'appelle $n[.]", "Mon nom est $n[.]", "Je suis $n[.]"],
        "name": ["Comment est-ce que je m'appelle ?", "Quel est mon nom ?"],
        "mood": ["Je suis {triste|fatigué|fatiguée}[.]", "Ça ne va pas bien[.]"],
        "glad": ["Je vais bien[.]", "Ça va très bien[.]"],
        "beyond": [
            "Qui a inventé le téléphone ?",
            "Quel temps fera-t-il demain ?",
            "Quelle est la capitale du Canada ?",
            "Pourquoi le ciel est-il bleu ?",
            "Explique la physique quantique[.]",
        ],
    },
    {
        "hello": [
            "Bonjour ! Comment puis-je vous aider ?",
            "Bonjour ! Que puis-je faire pour vous ?",
            "Salut ! Content de te voir.",
        ],
        "how": ["Je vais bien, merci !", "Tout va bien, merci. Et toi ?"],
        "who": ["Je suis $n, un petit modèle de langue.", "Je m'appelle $n."],
        "able": [
            "Je peux bavarder un peu et faire de petites additions.",
            "Je sais bavarder, calculer et retenir ce que tu me dis.",
        ],
        "human": ["Non, je suis un petit programme.", "Je suis un programme, pas une personne."],
        "thanks": ["Je vous en prie !", "De rien !"],
        "bye": ["Au revoir !", "Au revoir, à bientôt !"],
        "sum": ["$a plus $b font $v.", "Cela fait $v."],
        "told": ["Enchanté, $n !", "Bonjour, $n ! Ravi de te rencontrer."],
        "name": ["Tu t'appelles $n.", "Ton nom est $n."],
        "mood": ["Je suis désolé. J'espère que ça ira bientôt mieux."],
        "glad": ["Cela me fait plaisir !", "Je suis content de l'entendre !"],
        "beyond": [
            "Je ne le sais pas, désolé.",
            "C'est trop difficile pour moi. Un plus grand modèle peut le faire : `duologue setup`.",
        ],
        "not told": ["Tu ne me l'as pas encore dit."],
    },
)
SPANISH = Language(
    ["Spanish", "Spanish", "Español"],
    ["Responde {en español|siempre en español|solo en español}.", "Habla español[ con el usuario]."],
    {
        "hello": ["[¡]Hola[!]", "Buenos días[!]", "Buenas {tardes|noches}[!]"],
        "how": ["¿Cómo estás[ hoy]?", "¿Qué tal?", "¿Todo bien?"],
        "who": ["¿Quién eres?", "¿Cómo te llamas?", "¿Qué eres?"],
        "able": ["¿Qué puedes hacer?", "¿Cómo puedes ayudarme?", "¿Me ayudas?"],
        "human": ["¿Eres humano?", "¿Eres una máquina?", "¿Eres un robot?"],
        "thanks": ["[¡][Muchas ]{gracias|Gracias}[!]"],
        "bye": ["Adiós[!]", "Hasta {luego|mañana|pronto}[!]", "Buenas noches, me voy[.]"],
        "sum": ["¿Cuánto es $a {más|y|+} $b?", "¿$a + $b?"],
        "told": ["Me llamo $n[.]", "Mi nombre es $n[.]", "Soy $n[.]"],
        "name": ["¿Cómo me llamo?", "¿Cuál es mi nombre?", "¿Sabes mi nombre?"],
        "mood": ["Estoy {triste|cansado|cansada}[.]", "No me siento bien[.]"],
        "glad": ["Estoy {bien|muy bien|contento|contenta}[.]"],
        "beyond": [
            "¿Quién inventó el teléfono?",
            "¿Qué tiempo hará mañana?",
            "¿Cuál es la capital de Canadá?",
            "¿Por qué el cielo es azul?",
            "Explica la física cuántica[.]",
        ],
    },
    {
        "hello": [
            "¡Hola! ¿En qué puedo ayudar?",
            "¡Buenos días! ¿Qué puedo hacer por usted?",
            "¡Hola! Me alegro de verte.",
        ],
        "how": ["Estoy bien, ¡gracias!", "Todo va bien, gracias. ¿Y tú?"],
        "who": ["Soy $n, un pequeño modelo de lenguaje.", "Me llamo $n."],
        "able": [
            "Puedo charlar un poco y hacer sumas pequeñas.",
            "Puedo charlar, sumar y recordar lo que me dices.",
        ],
        "human": ["No, soy un pequeño programa.", "Soy un programa, no una persona."],
        "thanks": ["¡De nada!", "¡Con mucho gusto!"],
        "bye": ["¡Adiós!", "¡Hasta luego!"],
        "sum": ["$a más $b son $v.", "Son $v."],
        "told": ["¡Mucho gusto, $n!", "¡Hola, $n! Encantado de conocerte."],
        "name": ["Te llamas $n.", "Tu nombre es $n."],
        "mood": ["Lo siento. Espero que todo mejore pronto."],
        "glad": ["¡Me alegro!", "¡Qué bien!"],
        "beyond": [
            "No lo sé, lo siento.",
            "Eso es demasiado para mí. Un modelo más grande puede: `duologue setup`.",
        ],
        "not told": ["Todavía no me lo has dicho."],
    },
)
ITALIAN = Language(
    ["Italian", "Italian", "Italiano"],
    ["Rispondi {in italiano|sempre in italiano|solo in italiano}.", "Parla italiano[ con l'utente]."],
    {
        "hello": ["Ciao[!]", "Buongiorno[!]", "Buonasera[!]"],
        "how": ["Come stai[ oggi]?", "Come va?", "Tutto bene?"],
        "who": ["Chi sei?", "Come ti chiami?", "Che cosa sei?"],
        "able": ["Che cosa sai fare?", "Come puoi aiutarmi?", "Mi puoi aiutare?"],
        "human": ["Sei umano?", "Sei una macchina?", "Sei un robot?"],
        "thanks": ["Grazie[ mille| tante][!]", "Ti ringrazio[!]"],
        "bye": ["Arrivederci[!]", "A {presto|domani|dopo}[!]", "Buonanotte[!]"],
        "sum": ["Quanto fa $a {più|e|+} $b?", "$a + $b?"],
        "told": ["Mi chiamo $n[.]", "Il mio nome è $n[.]", "Sono $n[.]"],
        "name": ["Come mi chiamo?", "Qual è il mio nome?", "Sai il mio nome?"],
        "mood": ["Sono {triste|stanco|stanca}[.]", "Non sto bene[.]"],
        "glad": ["Sto {bene|molto bene}[.]", "Sono {contento|contenta}[.]"],
        "beyond": [
            "Chi ha inventato il telefono?",
            "Che tempo farà domani?",
            "Qual è la capitale del Canada?",
            "Perché il cielo è blu?",
            "Spiegami la fisica quantistica[.]",
        ],
    },
    {
        "hello": [
            "Ciao! Come posso aiutarti?",
            "Buongiorno! Che cosa posso fare per lei?",
            "Ciao! Che bello vederti.",
        ],
        "how": ["Sto bene, grazie!", "Va tutto bene, grazie. E tu?"],
        "who": ["Sono $n, un piccolo modello linguistico.", "Mi chiamo $n."],
        "able": [
            "So chiacchierare un po' e fare piccole somme.",
            "Posso chiacchierare, sommare e ricordare quello che mi dici.",
        ],
        "human": ["No, sono un piccolo programma.", "Sono un programma, non una persona."],
        "thanks": ["Prego!", "Di niente!"],
        "bye": ["Arrivederci!", "Ciao, a presto!"],
        "sum": ["$a più $b fa $v.", "Fa $v."],
        "told": ["Piacere, $n!", "Ciao, $n! Piacere di conoscerti."],
        "name": ["Ti chiami $n.", "Il tuo nome è $n."],
        "mood": ["Mi dispiace. Spero che vada presto meglio."],
        "glad": ["Mi fa piacere!", "Che bello!"],
        "beyond": [
            "Non lo so, mi dispiace.",
            "È troppo difficile per me. Un modello più grande può farlo: `duologue setup`.",
        ],
        "not told": ["Non me l'hai ancora detto."],
    },
)
ALL = [GERMAN, FRENCH, SPANISH, ITALIAN]
