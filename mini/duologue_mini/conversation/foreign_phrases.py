"""Greetings, thanks and goodbyes in many languages, and foreign sentences that the English-only model is asked."""

# ruff: noqa: SIM905 (word lists read better as running text)

HELLOS = {
    "Hola": "Spanish", "Buenos días": "Spanish", "Bonjour": "French", "Salut": "French", "Hallo": "German", "Guten Tag": "German",
    "Guten Morgen": "German", "Servus": "German", "Grüezi": "German", "Moin": "German", "Ciao": "Italian", "Buongiorno": "Italian",
    "Olá": "Portuguese", "Bom dia": "Portuguese", "Oi": "Portuguese", "Goedendag": "Dutch", "Hoi": "Dutch", "Hej": "Swedish",
    "God dag": "Swedish", "Hei": "Finnish", "Moi": "Finnish", "Halló": "Icelandic", "Cześć": "Polish", "Dzień dobry": "Polish",
    "Ahoj": "Czech", "Dobrý den": "Czech", "Szia": "Hungarian", "Jó napot": "Hungarian", "Bună": "Romanian", "Здравейте": "Bulgarian",
    "Привет": "Russian", "Здравствуйте": "Russian", "Привіт": "Ukrainian", "Γεια σου": "Greek", "Merhaba": "Turkish", "Selam": "Turkish",
    "Salam": "Persian", "سلام": "Persian", "مرحبا": "Arabic", "Shalom": "Hebrew", "שלום": "Hebrew", "Namaste": "Hindi", "नमस्ते": "Hindi",
    "你好": "Chinese", "Ni hao": "Chinese", "こんにちは": "Japanese", "Konnichiwa": "Japanese", "안녕하세요": "Korean", "Annyeong": "Korean",
    "Xin chào": "Vietnamese", "Sawasdee": "Thai", "สวัสดี": "Thai", "Halo": "Indonesian", "Selamat pagi": "Indonesian", "Jambo": "Swahili",
    "Habari": "Swahili", "Aloha": "Hawaiian", "Kia ora": "Maori", "Dia duit": "Irish", "Sveiki": "Latvian", "Labas": "Lithuanian",
    "Tere": "Estonian", "Zdravo": "Serbian", "Bok": "Croatian", "Përshëndetje": "Albanian", "Kamusta": "Filipino", "Saluton": "Esperanto",
    "Salve": "Latin", "Sawubona": "Zulu", "Mingalaba": "Burmese", "Barev": "Armenian", "Gamarjoba": "Georgian", "Hei hei": "Norwegian",
}  # fmt: skip
THANKS = "Gracias|Merci|Merci beaucoup|Danke|Danke schön|Vielen Dank|Grazie|Obrigado|Obrigada|Dank je|Tack|Takk|Kiitos|Dziękuję|Děkuji|Köszönöm|Спасибо|Дякую|Ευχαριστώ|Teşekkürler|شكرا|תודה|धन्यवाद|谢谢|ありがとう|Arigato|감사합니다|Cảm ơn|Asante|Mahalo|Hvala|Mersi|Multumesc|Paldies|Aitäh|Terima kasih".split(
    "|"
)
GOODBYES = "Adiós|Hasta luego|Au revoir|À bientôt|Tschüss|Auf Wiedersehen|Bis bald|Arrivederci|Tchau|Até logo|Tot ziens|Hej då|Ha det|Näkemiin|Do widzenia|Na shledanou|Viszlát|Пока|До свидания|Αντίο|Güle güle|مع السلامة|להתראות|再见|さようなら|Sayonara|안녕히 가세요|Tạm biệt|Kwaheri|Doviđenja|Vaarwel".split(
    "|"
)
SENTENCES = (
    """¿Hablas español?|¿Cómo te llamas?|¿Qué hora es?|¿Puedes ayudarme con mi trabajo?|¿Cuál es la capital de Perú?|Escribe un
poema sobre el mar.|No entiendo nada.|Tengo una pregunta|Quiero cocinar una paella|¿Quién eres tú?|¿Qué puedes hacer?|Cuéntame un chiste|
Parlez-vous français ?|Comment ça va ?|Où est la gare ?|Quel temps fait-il ?|Raconte-moi une histoire|Je ne comprends pas|Qui es-tu ?|Pouvez-vous
m'aider ?|Quelle heure est-il ?|J'ai faim|Écris une lettre à mon patron|Combien font deux et deux ?|Sprichst du Deutsch?|Wie geht es dir?|Wer bist
du?|Was kannst du?|Wie spät ist es?|Kannst du mir helfen?|Erzähl mir einen Witz|Ich habe eine Frage|Wie wird das Wetter morgen?|Ich verstehe das
nicht|Schreib mir einen Brief|Was ist die Hauptstadt von Peru?|Warum ist der Himmel blau?|Wie starte ich den Server?|Parli italiano?|Come
stai?|Che ore sono?|Mi puoi aiutare?|Raccontami una storia|Chi sei?|Non capisco|Qual è il senso della vita?|Você fala português?|Como vai
você?|Que horas são?|Quem é você?|Me conta uma piada|Preciso de ajuda|Spreek je Nederlands?|Hoe gaat het met je?|Wie ben je?|Hoe laat is het?|Kun je
me helpen?|Pratar du svenska?|Hur mår du?|Vem är du?|Kan du hjälpa mig?|Snakker du norsk?|Hvem er du?|Puhutko suomea?|Kuka sinä olet?|Mitä
kuuluu?|Mówisz po polsku?|Jak się masz?|Kim jesteś?|Która godzina?|Pomóż mi proszę|Mluvíš česky?|Jak se máš?|Kdo jsi?|Beszélsz magyarul?|Ki vagy
te?|Hogy vagy?|Vorbești românește?|Ce mai faci?|Ты говоришь по-русски?|Как дела?|Кто ты?|Который час?|Помоги мне, пожалуйста|Расскажи
анекдот|Какая сегодня погода?|Говориш українською?|Як справи?|Хто ти?|Μιλάς ελληνικά;|Τι κάνεις;|Türkçe biliyor musun?|Nasılsın?|Sen
kimsin?|Saat kaç?|Bana yardım et|هل تتكلم العربية؟|كيف حالك؟|من أنت؟|כמה השעה?|מי אתה?|آیا فارسی بلدی؟|حالت چطوره؟|क्या आप हिंदी बोलते हैं?|आप कौन
हैं?|आप कैसे हैं?|你会说中文吗？|你是谁？|今天天气怎么样？|帮我写一封信|现在几点？|日本語を話せますか？|あなたは誰ですか？|元気ですか？|今何時ですか？|한국어 할 줄 알아요?|당신은
누구세요?|몇 시예요?|Bạn có nói tiếng Việt không?|Bạn là ai?|Apa kabar?|Kamu siapa?|Jam berapa sekarang?|Unasema Kiswahili?|Wewe ni nani?|Govoriš
li srpski?|Kako si?|Ko si ti?|Kas tu esi?|Kas sa räägid eesti keelt?|Ĉu vi parolas Esperanton?|Quis es?|Quid agis?|Kumusta ka?|Sino ka?""".replace(
        "\n", " "
    )
    .replace("| ", "|")
    .split("|")
)
